/** What a workstream is for, and what its agent said last. */

export function TaskAndWords({ task, words }: { task: string; words: string }) {
  if (!task && !words) return null;
  return (
    <dl className="ap-ctx">
      {task && (
        <>
          <dt>Task</dt>
          <dd>{task}</dd>
        </>
      )}
      {words && (
        <>
          <dt>Agent</dt>
          <dd className="words">{words}</dd>
        </>
      )}
    </dl>
  );
}
