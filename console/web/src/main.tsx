/** Starts the page. */

import { createRoot } from "react-dom/client";
import { App } from "./app";
import "./design/index.css";
import { startTheme } from "./shell/theme";

startTheme();
const root = document.getElementById("root");
if (root) createRoot(root).render(<App />);
