import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { WriterResultJson } from '../../../admin/schemas/roster.ts'
import { api, evenIfRefused } from '../../data/api.ts'
import { useAsked } from '../../data/hooks.ts'
import { age, exact } from '../../format.ts'
import { Failure, Loading } from '../../parts/basics.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { doneText, RedeliverChoice, redeliverQuery } from '../../parts/redeliver-choice.tsx'
import { toast } from '../../parts/toast.tsx'
import { useWork } from '../../parts/work.ts'
import { words } from '../../words/index.ts'
import { PutAnswer } from './put-answer.tsx'

/** Shows the effect of undoing a put, then undoes it. */
export function UndoDialog({
  result,
  close,
}: {
  result: WriterResultJson
  close: (isChanged: boolean) => void
}): JSX.Element {
  const { answer, error } = useAsked('undo', () =>
    evenIfRefused(api.undo({ put: result.put, dry_run: true }), 'without_route'),
  )
  const { isBusy, failure, run } = useWork()
  const [isRedelivered, setRedelivered] = useState(true)
  const isLoss = (answer?.takes?.length ?? 0) > 0 || answer?.message !== undefined
  const submit = async () => {
    const asked = redeliverQuery(answer?.redeliver, isRedelivered)
    const done = await api.undo({ put: result.put, ...(isLoss && { force: true }), ...asked })
    const text = words.roster.applied(exact(done.added), exact(done.changed), exact(done.removed))
    toast(doneText(text, answer?.redeliver && done.redeliver, isRedelivered))
    close(true)
  }
  return (
    <Dialog
      title={words.roster.undoTitle(result.writer)}
      hint={words.roster.undoHint(age(result.at, Date.now()))}
      close={() => close(false)}
      submit={() => void run(submit)}
      actions={
        <button type="submit" class={`button ${isLoss ? 'danger' : 'primary'}`} disabled={!answer || isBusy}>
          {isLoss ? words.roster.undoAnyway : words.roster.undo}
        </button>
      }
    >
      {answer ? <PutAnswer answer={answer} /> : !error && <Loading lines={3} />}
      <RedeliverChoice redeliver={answer?.redeliver} isWanted={isRedelivered} want={setRedelivered} />
      <Failure error={failure ?? error} />
    </Dialog>
  )
}
