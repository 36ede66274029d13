/** Where a person writes to the agent: read next, or at the running turn's next step. */

import { useMutation } from "@tanstack/react-query";
import { useLayoutEffect, type KeyboardEvent, type RefObject } from "react";
import { send } from "../api/commands";
import type { When } from "../api/types";
import { Glyph, Icon } from "../design/glyph";
import type { Conversation } from "./conversation";
import { WhenSwitch } from "./when-switch";

const SHORTEST = 42;
const LONGEST_NAME = 20;
const TALLEST = 220;

interface ComposerProps {
  workstream: string;
  name: string;
  conversation: Conversation;
  text: string;
  onText: (text: string) => void;
  when: When;
  onWhen: (when: When) => void;
  onStop: () => void;
  field: RefObject<HTMLTextAreaElement | null>;
}

/** A name that fits into one line of the field. */
function brief(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name;
}

export function Composer({ workstream, name, conversation, text, onText, when, onWhen, onStop, field }: ComposerProps) {
  const running = conversation.state === "running";
  const sending = useMutation({
    mutationFn: ({ message, how }: { message: string; how: When }) => send(workstream, message, how),
    onSuccess: () => onText(""),
  });
  const submit = (how: When) => {
    if (text.trim() === "") field.current?.focus();
    else if (!sending.isPending) sending.mutate({ message: text, how });
  };
  const press = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      submit(event.shiftKey ? "steer" : when);
    }
    if (event.key === "Escape") {
      event.preventDefault();
      if (running && text === "") onStop();
      else event.currentTarget.blur();
    }
  };
  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    element.style.setProperty("height", "auto");
    element.style.setProperty("height", `${Math.min(TALLEST, Math.max(SHORTEST, element.scrollHeight))}px`);
  }, [field, text]);
  return (
    <div className="composer">
      {sending.error && (
        <div className="notice bad mb-2" role="alert">
          <Glyph name="fail" />
          <p>{sending.error.message}</p>
        </div>
      )}
      <Queued conversation={conversation} />
      <div className="box-in">
        <textarea
          ref={field}
          rows={1}
          aria-label="Message"
          placeholder={`Write to ${brief(name)}`}
          value={text}
          onChange={(event) => onText(event.target.value)}
          onKeyDown={press}
        />
        <div className="bar-in">
          <WhenSwitch when={when} onWhen={onWhen} />
          <span className="hint clip grow">{hintOf(conversation, when)}</span>
          <button
            type="button"
            className="btn ink"
            aria-busy={sending.isPending}
            onClick={() => submit(when)}
          >
            Send<kbd>Ctrl ↵</kbd>
          </button>
        </div>
      </div>
    </div>
  );
}

function hintOf({ state }: Conversation, when: When): string {
  if (state !== "running" && state !== "waiting") return "Read at once.";
  return when === "next" ? "Read when this turn has ended." : "Read at the next step of the running turn.";
}

function Queued({ conversation }: { conversation: Conversation }) {
  const queued = conversation.entries.flatMap((entry) => (entry.kind === "user" && entry.queued ? [entry] : []));
  return queued.map((entry) => (
    <div className="queued" key={entry.seq}>
      <Icon name="next" className="i-sm" />
      <span className="clip grow">
        <b>Next:</b> {entry.text}
      </span>
    </div>
  ));
}
