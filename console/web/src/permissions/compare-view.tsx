/** What another policy would decide apart from the one in force, and whether it does as its author expects. */

import { useMutation } from "@tanstack/react-query";
import { useId, useState, type ChangeEvent } from "react";
import { compare, tryPolicy } from "../api/commands";
import type { Difference, Matrix, Rule, Trial } from "../api/decision-types";
import { counted } from "../design/format";
import { Glyph, Icon } from "../design/glyph";
import { ChangedCells } from "./changed-cells";
import { policyText } from "./policy-text";

interface CompareViewProps {
  rules: readonly Rule[];
  profile: string;
  matrix: Matrix | undefined;
}

interface Compared {
  difference: Difference;
  trial: Trial;
}

export function CompareView({ rules, profile, matrix }: CompareViewProps) {
  const id = useId();
  const [text, setText] = useState("");
  const comparing = useMutation({
    mutationFn: async (): Promise<Compared> => ({
      difference: await compare({ after: text, profile }),
      trial: await tryPolicy(text, profile),
    }),
  });
  const open = (event: ChangeEvent<HTMLInputElement>) => {
    const [file] = event.target.files ?? [];
    if (file) void file.text().then(setText);
  };
  return (
    <>
      <div className="pm-compare">
        <div className="field">
          <label htmlFor={`${id}-policy`}>Policy to compare with the one in force, {counted(rules.length, "rule")}</label>
          <textarea
            id={`${id}-policy`}
            className="input mono"
            rows={8}
            spellCheck={false}
            placeholder={'[[rule]]\nscope = "project"\npattern = "bash"\ndecision = "deny"\n\n[[expect]]\ntool = "bash"\ndecision = "deny"'}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </div>
        <div className="btns">
          <button
            type="button"
            className="btn ink"
            disabled={text.trim() === ""}
            aria-busy={comparing.isPending}
            onClick={() => comparing.mutate()}
          >
            Compare
          </button>
          <label className="btn">
            <Icon name="file" />
            Open a file
            <input type="file" className="vh" accept=".toml,.json,text/plain" onChange={open} />
          </label>
          <button type="button" className="btn" disabled={rules.length === 0} onClick={() => setText(policyText(rules))}>
            Begin with what is in force
          </button>
          <span className="scope">TOML or JSON with rules and expected decisions. A dry run: nothing changes.</span>
        </div>
        {comparing.error && (
          <div className="notice bad" role="alert">
            <Glyph name="fail" />
            <p>{comparing.error.message}</p>
          </div>
        )}
      </div>
      {comparing.data && <Figures compared={comparing.data} />}
      {comparing.data && <Outcome compared={comparing.data} matrix={matrix} />}
    </>
  );
}

function Figures({ compared: { difference, trial } }: { compared: Compared }) {
  const expected = trial.passed + trial.failed;
  return (
    <section className="strip cmp" aria-label="The difference in figures">
      <div>
        <span className="l">Cells</span>
        <span className="f">{difference.cells}</span>
        <span className="d">{difference.changes.length} decided apart</span>
      </div>
      <div>
        <span className="l c-reed">
          <Icon name="wider" className="i-sm" />
          Wider
        </span>
        <span className="f">{difference.wider}</span>
        <span className="d">let more happen</span>
      </div>
      <div>
        <span className="l c-moss">
          <Icon name="narrower" className="i-sm" />
          Narrower
        </span>
        <span className="f">{difference.narrower}</span>
        <span className="d">ask or deny more</span>
      </div>
      <div>
        <span className="l">Expected decisions</span>
        <span className="f">
          {trial.passed} <small>pass</small>
          {trial.failed > 0 && (
            <span className="c-berry">
              {trial.failed} <small className="c-berry">{trial.failed === 1 ? "fails" : "fail"}</small>
            </span>
          )}
        </span>
        <span className="d">{expected === 0 ? "the policy expects none" : `of ${expected} in the policy`}</span>
      </div>
    </section>
  );
}

function Outcome({ compared: { difference, trial }, matrix }: { compared: Compared; matrix: Matrix | undefined }) {
  const failing = trial.results.filter((result) => !result.passed);
  return (
    <>
      {difference.changes.length === 0 ? (
        <p className="pm-say">Both decide the same on every tool in every mode.</p>
      ) : (
        <ChangedCells changes={difference.changes} matrix={matrix} />
      )}
      <div className="pm-compare">
        {failing.map((result) => (
          <div key={`${result.tool} ${result.mode} ${result.profile}`} className="notice warn" role="status">
            <Glyph name="warn" />
            <p>
              <b>Not as expected:</b> <code>{result.tool}</code> in <code>{result.mode}</code>: {result.wrong}.
            </p>
          </div>
        ))}
        {trial.warnings.map((warning) => (
          <div key={warning} className="notice warn" role="status">
            <Glyph name="warn" />
            <p>{warning}.</p>
          </div>
        ))}
      </div>
    </>
  );
}
