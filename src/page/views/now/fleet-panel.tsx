import type { JSX } from 'preact'
import type { StatusJson } from '../../../admin/schemas/status.ts'
import { CONDITIONS } from '../../data/van.ts'
import { count, exact } from '../../format.ts'
import { Panel } from '../../parts/basics.tsx'
import { NoVans } from '../../parts/no-vans.tsx'
import { href } from '../../router.ts'
import { words } from '../../words/index.ts'

/** How many vans are in which condition; each leads to its list. */
export function FleetPanel({ status }: { status: StatusJson }): JSX.Element {
  const vans = { ...status.vans, unknown: 0 }
  const shares = CONDITIONS.map((condition) => ({ condition, n: vans[condition] })).filter(({ n }) => n > 0)
  const total = shares.reduce((sum, { n }) => sum + n, 0)
  if (total === 0)
    return (
      <Panel title={words.now.fleet}>
        <NoVans />
      </Panel>
    )
  return (
    <Panel title={words.now.fleet} hint={words.vansCount(total, exact(total))}>
      <svg class="share-bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        {shares.map(({ condition, n }, index) => {
          const before = shares.slice(0, index).reduce((sum, share) => sum + share.n, 0)
          return (
            <rect
              key={condition}
              class={`f-${condition}`}
              x={(before / total) * 100}
              width={(n / total) * 100}
              height="1"
            />
          )
        })}
      </svg>
      <ul class="share-list">
        {shares.map(({ condition, n }) => (
          <li key={condition}>
            <a href={href('vans', { query: { condition } })} title={words.conditionMeans[condition]}>
              <span class={`dot c-${condition}`} />
              <span>{words.condition[condition]}</span>
              <span class="num">{count(n)}</span>
            </a>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
