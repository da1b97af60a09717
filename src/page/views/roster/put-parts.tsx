import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { RosterPutJson } from '../../../admin/schemas/roster.ts'
import type { Tried } from '../../data/api.ts'
import { Foreign } from '../../parts/basics.tsx'
import { ChangeButton } from '../../parts/change-button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { useToastedWork } from '../../parts/work.ts'
import { words } from '../../words/index.ts'
import { LossDialog } from './loss-dialog.tsx'

interface PutHeadProps {
  readonly file: File
  readonly isDone?: boolean
  readonly close: () => void
}

/** The heading of the panel of a dropped file. */
export function PutHead({ file, isDone = false, close }: PutHeadProps): JSX.Element {
  return (
    <header class="panel-head">
      <h2 class="put-file">
        <Icon name="upload" size={14} /> <Foreign text={file.name} />
      </h2>
      <span class="hint">{isDone ? words.list.isPut : words.roster.putHint}</span>
      <span class="panel-aside">
        <button type="button" class="button quiet small" onClick={close}>
          <Icon name="close" size={14} />
          {isDone ? words.close : words.roster.leave}
        </button>
      </span>
    </header>
  )
}

type Losses = Pick<Tried<RosterPutJson>, 'takes' | 'message'>

interface PutFootProps<Answer extends Losses> {
  /** What the put would change. */
  readonly answer: Answer
  readonly note: ComponentChildren
  readonly isDisabled: boolean
  readonly put: (how: { force?: true }) => Promise<Answer>
  /** Called once it is put; returns what a toast says of it. */
  readonly taken: (answer: Answer) => string | undefined
  /** Puts less, so that no van loses its route; undefined: there is nothing less. */
  readonly narrow?: () => void
}

/** The button that puts a dropped file; it asks first if vans would lose their route. */
export function PutFoot<Answer extends Losses>(props: PutFootProps<Answer>): JSX.Element {
  const { answer, note, isDisabled, put, taken, narrow } = props
  const [isAsking, setAsking] = useState(false)
  const { isBusy, run } = useToastedWork()
  useEffect(() => setAsking(false), [answer])
  const isLoss = (answer.takes ?? []).length > 0 || answer.message !== undefined
  const apply = (how: { force?: true }) =>
    run(async () => {
      const done = await put(how)
      if (done.message === undefined) return taken(done)
      setAsking(true)
      return undefined
    })
  return (
    <>
      <footer class="put-foot">
        <span class="muted">{note}</span>
        <ChangeButton
          type="button"
          class={`button ${isLoss ? 'danger' : 'primary'}`}
          disabled={isBusy || isDisabled}
          onClick={() => (isLoss ? setAsking(true) : void apply({}))}
        >
          {isLoss ? words.roster.applyAsk : words.apply}
        </ChangeButton>
      </footer>
      {isAsking && (
        <LossDialog
          answer={answer}
          close={() => setAsking(false)}
          narrow={narrow}
          force={() => {
            setAsking(false)
            void apply({ force: true })
          }}
        />
      )}
    </>
  )
}
