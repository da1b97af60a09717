import type { JSX } from 'preact'
import type { LinkName } from '../../../admin/schemas/findings.ts'
import type { StatusJson } from '../../../admin/schemas/status.ts'
import { useLive } from '../../data/hooks.ts'
import { exact, rate, withTimes } from '../../format.ts'
import { Empty, Loading } from '../../parts/basics.tsx'
import { FindingList } from '../../parts/finding.tsx'
import { Icon } from '../../parts/icon.tsx'
import { go, href, type PageAddress } from '../../router.ts'
import { words } from '../../words/index.ts'
import { CopiesPanel, CustodyPanel, ProcessesPanel, UpstreamPanel } from './figures.tsx'
import { FleetPanel } from './fleet-panel.tsx'
import { LinksPanel } from './links-panel.tsx'
import { RatesPanel } from './rates-panel.tsx'
import { AlertTestButton } from './test-button.tsx'

/** The present state of the system: the verdict, the seven links, the findings, and the figures. */
export function Now({ place }: { place: PageAddress }): JSX.Element {
  const { status } = useLive()
  const link = (place.query.get('link') ?? undefined) as LinkName | undefined
  const choose = (chosen: LinkName | undefined) =>
    go(href('now', { query: { link: chosen === link ? undefined : chosen } }), { replace: true })
  if (!status) return <Waiting />
  return (
    <div class="now stack">
      <Verdict status={status} />
      <LinksPanel status={status} chosen={link} choose={choose} />
      <div class="now-grid">
        <FindingsPanel status={status} link={link} showAll={() => choose(undefined)} />
        <div class="stack">
          <FleetPanel status={status} />
          {status.rates && <RatesPanel />}
        </div>
      </div>
      <div class="figures-grid">
        <CustodyPanel status={status} />
        <UpstreamPanel status={status} />
        {status.copies && <CopiesPanel copies={status.copies} />}
        {status.processes && <ProcessesPanel processes={status.processes} />}
      </div>
    </div>
  )
}

function Waiting(): JSX.Element {
  return (
    <div class="now stack">
      <h1 class="sr-only">{words.now.title}</h1>
      <Loading lines={6} />
    </div>
  )
}

/** The state in one sentence. */
function Verdict({ status }: { status: StatusJson }): JSX.Element {
  const { rates } = status
  const errors = status.findings.filter(({ severity }) => severity === 'error').length
  const warnings = status.findings.filter(({ severity }) => severity === 'warning').length
  const state = errors > 0 ? 'error' : warnings > 0 ? 'warning' : isKnown(status) ? 'ok' : 'unknown'
  return (
    <div class={`verdict is-${state}`}>
      <span class="verdict-mark">
        <Icon name={state} size={20} />
      </span>
      <div>
        <h1 title={withTimes(status.verdict)}>{withTimes(status.plain_verdict)}</h1>
        <p class="muted">
          {errors > 0 && <span class="tone-error">{words.now.errors(errors, exact(errors))}</span>}
          {errors > 0 && warnings > 0 && ' · '}
          {warnings > 0 && <span class="tone-warning">{words.now.warnings(warnings, exact(warnings))}</span>}
          {errors + warnings > 0 && rates && ' · '}
          {rates &&
            (state === 'ok'
              ? words.now.allWellText(rate(rates.delivered_per_s))
              : words.now.flow(rate(rates.received_per_s), rate(rates.delivered_per_s)))}
        </p>
      </div>
    </div>
  )
}

interface FindingsPanelProps {
  readonly status: StatusJson
  readonly link: LinkName | undefined
  readonly showAll: () => void
}

function FindingsPanel({ status, link, showAll }: FindingsPanelProps): JSX.Element {
  const shown = link ? status.findings.filter((finding) => finding.link === link) : status.findings
  return (
    <section class="panel" aria-label={words.now.findings}>
      <header class="panel-head">
        <h2>{words.now.findings}</h2>
        <span class="hint">{link ? words.now.onlyLink(words.link[link]) : words.now.findingsHint}</span>
        <span class="panel-aside">
          {link && (
            <button type="button" class="button quiet small" onClick={showAll}>
              {words.now.showAll}
            </button>
          )}
          <AlertTestButton />
        </span>
      </header>
      {shown.length > 0 ? <FindingList findings={shown} /> : <NoFinding status={status} link={link} />}
    </section>
  )
}

/** Says that nothing is wrong, where that is known. */
function NoFinding({ status, link }: Pick<FindingsPanelProps, 'status' | 'link'>): JSX.Element {
  if (!isKnown(status)) return <Empty icon="unknown" title={words.now.notKnown} />
  return <Empty icon="ok" title={words.now.noFindings} text={link ? undefined : words.now.noFindingsText} />
}

function isKnown({ links }: StatusJson): boolean {
  return links.every(({ state }) => state !== 'unknown')
}
