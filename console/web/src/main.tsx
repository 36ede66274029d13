/** Starts the page. */

// First, because it says in which order the layers of all styles count.
import "./design/index.css";

import { createRoot } from "react-dom/client";
import { App } from "./app";
import { startTheme } from "./shell/theme";

startTheme();
const root = document.getElementById("root");
if (root) createRoot(root).render(<App />);
