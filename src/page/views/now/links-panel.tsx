import type { JSX } from 'preact'
import type { LinkName } from '../../../admin/schemas/findings.ts'
import type { LinkFiguresJson, StatusJson } from '../../../admin/schemas/status.ts'
import { useNow } from '../../data/hooks.ts'
import { HOUR_MS, hourOf } from '../../data/hour.ts'
import { count, exact, rate } from '../../format.ts'
import { Icon } from '../../parts/icon.tsx'
import { Spark } from '../../parts/spark.tsx'
import { words } from '../../words/index.ts'

interface LinksPanelProps {
  readonly status: StatusJson
  readonly chosen: LinkName | undefined
  readonly choose: (link: LinkName) => void
}

/** The seven links that a position passes, with their figures: the way is green up to the first broken one. */
export function LinksPanel({ status, chosen, choose }: LinksPanelProps): JSX.Element {
  const { links } = status
  const firstBroken = links.findIndex(({ state }) => state === 'broken')
  return (
    <section class="panel links-panel" aria-label={words.now.links}>
      <header class="panel-head">
        <h2>{words.now.links}</h2>
        <span class="hint">{words.now.linksHint}</span>
      </header>
      <ol class="links">
        {links.map((figures, index) => (
          <li
            key={figures.link}
            class={`link is-${figures.state} ${firstBroken >= 0 && index > firstBroken ? 'is-after' : ''}`}
          >
            <button
              type="button"
              class="link-button"
              aria-pressed={chosen === figures.link}
              onClick={() => choose(figures.link)}
              title={words.linkMeans[figures.link]}
            >
              <LinkHead figures={figures} />
              <LinkBody figures={figures} />
            </button>
          </li>
        ))}
      </ol>
    </section>
  )
}

function LinkHead({ figures: { link, state, findings } }: { figures: LinkFiguresJson }): JSX.Element {
  return (
    <span class="link-head">
      <span class="node">
        <Icon name={state === 'broken' ? 'close' : state} size={14} />
      </span>
      <span class="link-name">{words.link[link]}</span>
      <span class="sr-only">{words.linkState[state]}</span>
      {findings.length > 0 && (
        <span class={`badge ${state === 'broken' ? 'error' : 'warning'}`}>{findings.length}</span>
      )}
    </span>
  )
}

/** The rates of a link if the admin port gives them, else its state. */
function LinkBody({ figures }: { figures: LinkFiguresJson }): JSX.Element {
  const now = useNow(15_000)
  const { link, state, count: passed, per_s } = figures
  if (passed === undefined || per_s === undefined)
    return (
      <span class="link-body">
        <span class="link-count muted">{words.linkState[state]}</span>
      </span>
    )
  return (
    <span class="link-body">
      <span class="link-figure">
        <span class="figure-large num">{rate(per_s)}</span>
        <span class="figure-unit">{words.unit.perS}</span>
      </span>
      <span class="link-spark">
        <Spark points={hourOf(figures, now)} from={now - HOUR_MS} until={now} label={words.now.rates} />
      </span>
      <span class="link-count muted" title={exact(passed)}>
        <span class="num">{count(passed)}</span> {words.linkCount[link]}
      </span>
    </span>
  )
}
