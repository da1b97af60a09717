import type { JSX } from 'preact'
import type { LineRemark, WriterResultJson } from '../../../admin/schemas/roster.ts'
import { exact, time } from '../../format.ts'
import { Foreign } from '../../parts/basics.tsx'
import { useMore } from '../../parts/more.tsx'
import { words } from '../../words/index.ts'

interface RemarkListProps {
  readonly title: string
  readonly tone: 'error' | 'warning'
  readonly remarks: readonly LineRemark[]
}

/** Remarks about lines of a roster, with their numbers. */
export function RemarkList({ title, tone, remarks }: RemarkListProps): JSX.Element | null {
  const { shown, more } = useMore(remarks, MOST_SHOWN, { isSmall: true })
  if (remarks.length === 0) return null
  return (
    <div class={`remarks is-${tone}`}>
      <h3>
        {title} <span class="num">{exact(remarks.length)}</span>
      </h3>
      <ul>
        {shown.map(({ line, message }, index) => (
          <li key={index}>
            {line > 0 && <span class="remark-line num">{words.roster.line(exact(line))}</span>}
            <Foreign text={message} />
          </li>
        ))}
      </ul>
      {more}
    </div>
  )
}

/** Why the present roster of the server of a pull is not in effect. */
export function PullFailure({ failing }: Pick<WriterResultJson, 'failing'>): JSX.Element | null {
  if (!failing) return null
  const title = words.roster.failing(time(failing.since_at))
  return <RemarkList title={title} tone="error" remarks={[{ line: 0, message: failing.reason }]} />
}

const MOST_SHOWN = 8
