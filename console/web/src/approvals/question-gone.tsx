/** A question that a link leads to and that waits no more. */

import { Icon } from "../design/glyph";
import { questionsPath } from "../shell/route";

export function QuestionGone() {
  return (
    <section className="ap-detail" aria-label="A question that waits no more">
      <header className="ap-head">
        <a className="btn quiet icon phone-only" href={questionsPath()} aria-label="Back to the list">
          <Icon name="left" />
        </a>
        <h2>Question</h2>
      </header>
      <p className="pm-say">No question of this id waits. It is answered, or the link is of another cluster.</p>
    </section>
  );
}
