import type { JSX } from 'preact'
import type { RosterPutJson } from '../../../admin/schemas/roster.ts'
import type { Tried } from '../../data/api.ts'
import { collator, exact } from '../../format.ts'
import { Foreign } from '../../parts/basics.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { words } from '../../words/index.ts'

interface LossDialogProps {
  readonly answer: Pick<Tried<RosterPutJson>, 'takes' | 'message'>
  readonly close: () => void
  /** Puts less, so that no van loses its route; undefined: there is nothing less. */
  readonly narrow: (() => void) | undefined
  readonly force: () => void
}

/** Names the vans that would lose their route, and asks. Suggests first the change by which no van loses its route. */
export function LossDialog({ answer, close, narrow, force }: LossDialogProps): JSX.Element {
  const { takes = [], message } = answer
  const losers = takes.toSorted((one, other) => collator.compare(one.name ?? one.device, other.name ?? other.device))
  return (
    <Dialog
      title={takes.length > 0 ? words.roster.lossTitle(takes.length, exact(takes.length)) : words.roster.lossAny}
      hint={words.roster.lossHint}
      close={close}
      submit={narrow ?? force}
      actions={
        <>
          <button type="button" class="button danger" onClick={force}>
            {words.roster.lossForce}
          </button>
          {narrow && (
            <button type="submit" class="button primary">
              {words.roster.lossNarrow}
            </button>
          )}
        </>
      }
    >
      {takes.length > 0 ? (
        <ul class="losers">
          {losers.slice(0, MOST_SHOWN).map(({ device, name = device, route_id }) => (
            <li key={device}>
              <Foreign text={name} />
              <span class="muted num">{words.roster.hasRoute(route_id)}</span>
            </li>
          ))}
          {takes.length > MOST_SHOWN && (
            <li class="muted">{words.roster.swapMore(exact(takes.length - MOST_SHOWN))}</li>
          )}
        </ul>
      ) : (
        <p>
          <Foreign text={message ?? ''} />
        </p>
      )}
    </Dialog>
  )
}

const MOST_SHOWN = 30
