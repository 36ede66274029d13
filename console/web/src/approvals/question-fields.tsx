/** One question: its options, and room for words of one's own. */

import { useId } from "react";
import type { QuestionPart } from "../api/types";
import type { Choice } from "./choices";

interface QuestionFieldsProps {
  part: QuestionPart;
  /** The card's own header asks it. */
  alone: boolean;
  /** The digits choose its options. */
  keys: boolean;
  disabled: boolean;
  choice: Choice;
  onPick: (option: string) => void;
  onText: (text: string) => void;
}

export function QuestionFields({ part, alone, keys, disabled, choice, onPick, onText }: QuestionFieldsProps) {
  const id = useId();
  return (
    <fieldset className="opts" data-question={part.question_id} disabled={disabled}>
      <legend className={alone ? "vh" : "font-semibold"}>{part.text}</legend>
      {part.multi_select && <p className="scope">Several may be chosen.</p>}
      {part.options.map((option, at) => (
        <label key={option.option_id} className="opt">
          <input
            className={part.multi_select ? "check" : "check radio"}
            type={part.multi_select ? "checkbox" : "radio"}
            name={id}
            checked={choice.options.includes(option.option_id)}
            onChange={() => onPick(option.option_id)}
          />
          <span>{option.label}</span>
          {keys ? <kbd>{at + 1}</kbd> : <span />}
          {option.description && <small>{option.description}</small>}
        </label>
      ))}
      <div className="field">
        <label htmlFor={`${id}-own`}>Or in your own words</label>
        <textarea
          id={`${id}-own`}
          className="input"
          rows={2}
          placeholder="The agent reads this as your answer"
          value={choice.text}
          onChange={(event) => onText(event.target.value)}
        />
      </div>
    </fieldset>
  );
}
