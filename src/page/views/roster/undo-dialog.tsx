import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { RosterPutJson, WriterResultJson } from '../../../admin/schemas/roster.ts'
import { api, type Tried } from '../../data/api.ts'
import { RequestError } from '../../data/client.ts'
import { useAsked } from '../../data/hooks.ts'
import { age, exact } from '../../format.ts'
import { Failure, Loading } from '../../parts/basics.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { doneText, RedeliverChoice, redeliverQuery } from '../../parts/redeliver-choice.tsx'
import { toast } from '../../parts/toast.tsx'
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
  const { answer, error } = useAsked('undo', () => undo(result, { dry_run: true }))
  const [failure, setFailure] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const [isRedelivered, setRedelivered] = useState(true)
  const isLoss = (answer?.takes?.length ?? 0) > 0 || answer?.message !== undefined
  const submit = async () => {
    setBusy(true)
    try {
      const asked = redeliverQuery(answer?.redeliver, isRedelivered)
      const done = await undo(result, { ...(isLoss && { force: true }), ...asked })
      const text = words.roster.applied(exact(done.added), exact(done.changed), exact(done.removed))
      toast(doneText(text, answer?.redeliver && done.redeliver, isRedelivered))
      close(true)
    } catch (reason) {
      setFailure(reason)
      setBusy(false)
    }
  }
  return (
    <Dialog
      title={words.roster.undoTitle(result.writer)}
      hint={words.roster.undoHint(age(result.at, Date.now()))}
      close={() => close(false)}
      submit={() => void submit()}
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

/** Undoes a put and resolves to the answer, also to a refusal because of lost routes, with its `message`. */
async function undo({ put }: WriterResultJson, how: Record<string, boolean>): Promise<Tried<RosterPutJson>> {
  try {
    return await api.undo({ put, ...how })
  } catch (error) {
    const answer = error instanceof RequestError && error.status === 409 ? (error.body as RosterPutJson) : undefined
    if (answer?.without_route && how.dry_run) return answer
    throw error
  }
}
