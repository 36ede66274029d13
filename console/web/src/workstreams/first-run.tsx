/** What stands here while there is no workstream: two ways to begin. */

import { useMutation, useQuery } from "@tanstack/react-query";
import { useState, type KeyboardEvent } from "react";
import { create } from "../api/commands";
import { overview } from "../api/queries";
import { counted } from "../design/format";
import { Bird, Glyph, Icon } from "../design/glyph";
import { say } from "../design/toast";
import { go, usePage, workstreamPath } from "../shell/route";
import { DEMO_COMMANDS, DEMO_MESSAGE, foretell } from "./demo";

export function FirstRun() {
  const { data } = useQuery(overview);
  usePage("first-run", "Begin");
  const sub = data ? `${counted(data.nodes.up, "node")}, no workstream yet` : "no workstream yet";
  return (
    <>
      <header className="top">
        <h1>Begin</h1>
        <span className="sub">{sub}</span>
      </header>
      <div className="body fr">
        <div className="fr-hero">
          <Bird />
          <div>
            <h2>Nothing runs yet. Two ways to begin.</h2>
            <p className="muted">
              Both make a workstream. It is stored before you get an answer, so you can stop anything at any time.
            </p>
          </div>
        </div>
        <div className="fr-grid">
          <TryIt />
          <Terminal />
        </div>
        {data && <Standing up={data.nodes.up} total={data.nodes.total} depth={data.queues.depth} version={data.version} />}
      </div>
    </>
  );
}

function TryIt() {
  const [message, setMessage] = useState(DEMO_MESSAGE);
  const making = useMutation({ mutationFn: create, onSuccess: (view) => go(workstreamPath(view.id)) });
  const send = () => {
    if (message.trim() && !making.isPending) making.mutate({ message });
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
  };
  const add = (line: string) => setMessage((text) => (text.trim() ? `${text.replace(/\n*$/, "\n")}${line}` : line));
  return (
    <section className="panel fr-try" aria-labelledby="h-1">
      <header>
        <span className="ord">1</span>
        <h2 id="h-1">Try it now</h2>
      </header>
      <div className="pad3">
        <p className="muted">
          As long as no model is set up, <span className="mono">demo</span> answers. It has no wits: it does what the lines of
          your message ask, one call a line. Everything around it is real.
        </p>
        <div className="box-in">
          <textarea
            className="mono"
            rows={5}
            aria-label="First message"
            value={message}
            onChange={(event) => setMessage(event.target.value)}
            onKeyDown={press}
          />
          <div className="bar-in">
            <span className="hint faint grow">{foretell(message)}</span>
            <button type="button" className="btn ink" aria-busy={making.isPending} onClick={send}>
              Send<kbd>Ctrl ↵</kbd>
            </button>
          </div>
        </div>
        {making.error && (
          <div className="notice bad" role="alert">
            <Glyph name="fail" />
            <p>{making.error.message}</p>
          </div>
        )}
        <table className="tbl cmds">
          <caption className="vh">What demo understands</caption>
          <tbody>
            {DEMO_COMMANDS.map(({ form, does, decision, example }) => (
              <tr key={form}>
                <td>
                  <button type="button" className="cmd-b mono" title="Put into the message" onClick={() => add(example)}>
                    {form}
                  </button>
                </td>
                <td className="muted">{does}</td>
                <td>
                  {decision ? (
                    <span className={`dec ${decision}`}>
                      <Glyph name={decision === "allow" ? "allow" : "ask"} />
                      {decision}
                    </span>
                  ) : (
                    <span className="faint">{form === "then" ? "" : "its rule"}</span>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Terminal() {
  const origin = window.location.origin;
  return (
    <section className="panel" aria-labelledby="h-2">
      <header>
        <span className="ord">2</span>
        <h2 id="h-2">From a terminal</h2>
      </header>
      <div className="pad3">
        <p className="muted">The same, over HTTP. Data on stdout, everything else on stderr.</p>
        <Snippet
          says="Sign this terminal in"
          text={`export REDSHANK_URL=${origin}\nexport REDSHANK_TOKEN=$(cat DATA/admin.token)`}
        />
        <Snippet says="Run and wait" text={'redshank run "read: README.md" --wait'} />
        <Snippet says="See what waits, then answer" text={"redshank approvals ls\nredshank approvals allow ID"} />
      </div>
    </section>
  );
}

function Snippet({ says, text }: { says: string; text: string }) {
  const copy = () => {
    navigator.clipboard.writeText(text).then(
      () => say("Copied"),
      () => say("The browser does not let the page copy. Select the text instead."),
    );
  };
  return (
    <div className="shell-c">
      <div className="flex">
        <span className="faint">{says}</span>
        <span className="grow" />
        <button type="button" className="btn quiet sm icon" aria-label={`Copy: ${says}`} onClick={copy}>
          <Icon name="copy" />
        </button>
      </div>
      <pre className="mono" tabIndex={0} role="group" aria-label={says}>
        {text}
      </pre>
    </div>
  );
}

interface StandingProps {
  up: number;
  total: number;
  depth: number | null;
  version: string;
}

function Standing({ up, total, depth, version }: StandingProps) {
  return (
    <section className="panel" aria-labelledby="h-doc">
      <header>
        <h2 id="h-doc">What stands already</h2>
      </header>
      <ul className="doc">
        <li>
          <span className={`st ${up > 0 ? "st-up" : "st-warn"}`}>
            <Glyph name={up > 0 ? "up" : "warn"} />
            Nodes
          </span>
          <span>
            {up} up of {total}
          </span>
          {up === 0 && (
            <small>
              Start one: <code>redshank node</code>
            </small>
          )}
        </li>
        <li>
          <span className={`st ${depth === null ? "st-warn" : "st-up"}`}>
            <Glyph name={depth === null ? "warn" : "up"} />
            Queue
          </span>
          <span>{depth === null ? "Redis does not answer" : depth === 0 ? "nothing waits" : `${depth} wait`}</span>
        </li>
        <li>
          <span className="st st-up">
            <Glyph name="up" />
            Console
          </span>
          <span>
            {window.location.host}, v{version.replace(/^v/, "")}
          </span>
        </li>
      </ul>
    </section>
  );
}
