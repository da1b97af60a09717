import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { ChainJson, ChainLinkJson } from '../../../admin/schemas/chain.ts'
import { useNow } from '../../data/hooks.ts'
import { age, fullTime, withTimes } from '../../format.ts'
import { Foreign, Panel } from '../../parts/basics.tsx'
import { FindingList } from '../../parts/finding.tsx'
import { Icon } from '../../parts/icon.tsx'
import { words } from '../../words/index.ts'

/** The seven links of one van, with their evidence; the first broken one is open, with its repair. */
export function ChainPanel({ chain }: { chain: ChainJson }): JSX.Element {
  const broken = chain.links.findIndex(({ link }) => link === chain.broken)
  const [chosen, choose] = useState<number>()
  const open = chosen ?? (broken >= 0 ? broken : chain.links.length - 1)
  const link = chain.links[open]
  const isNew = (text: string) => !link?.evidence.includes(text)
  // Findings that the open link shows are not repeated.
  const findings = chain.findings.map((finding) => ({ ...finding, evidence: finding.evidence.filter(isNew) }))
  return (
    <Panel title={words.van.chain} hint={hintOf(chain)}>
      <ol class="links chain">
        {chain.links.map((each, index) => (
          <ChainStep
            key={each.link}
            step={each}
            isOpen={index === open}
            isAfter={broken >= 0 && index > broken}
            choose={() => choose(index)}
          />
        ))}
      </ol>
      {link && <LinkEvidence key={link.link} link={link} />}
      {findings.length > 0 && (
        <div class="chain-findings">
          <FindingList findings={findings} isQuiet />
        </div>
      )}
    </Panel>
  )
}

/** Links that nothing has reached are neither broken nor working. */
function hintOf({ broken, links }: ChainJson): string {
  if (broken) return words.van.brokenAt(words.link[broken])
  return links.every(({ state }) => state === 'ok') ? words.van.whole : words.van.unbroken
}

interface ChainStepProps {
  readonly step: ChainLinkJson
  readonly isOpen: boolean
  readonly isAfter: boolean
  readonly choose: () => void
}

function ChainStep({ step: { link, state, last_good_at }, isOpen, isAfter, choose }: ChainStepProps): JSX.Element {
  const now = useNow(5000)
  return (
    <li class={`link is-${state} ${isAfter ? 'is-after' : ''}`}>
      <button type="button" class="link-button" aria-expanded={isOpen} aria-controls="link-evidence" onClick={choose}>
        <span class="link-head">
          <span class="node">
            <Icon name={state === 'broken' ? 'close' : state} size={14} />
          </span>
          <span class="link-name">{words.link[link]}</span>
        </span>
        <span class="link-count muted">
          {words.linkState[state]}
          {state !== 'ok' && last_good_at && (
            <span class="num" title={fullTime(last_good_at)}>
              {' '}
              · {words.van.lastGood(age(last_good_at, now))}
            </span>
          )}
        </span>
      </button>
    </li>
  )
}

function LinkEvidence({ link: { link, state, evidence } }: { link: ChainLinkJson }): JSX.Element {
  const meaning = state === 'ok' ? words.linkMeans[link] : words.linkState[state]
  return (
    <div id="link-evidence" class={`link-evidence is-${state}`}>
      <p class="link-evidence-title">
        {words.link[link]}: {meaning}
      </p>
      <ul>
        {evidence.map((text, index) => (
          <li key={index}>
            <Foreign text={withTimes(text)} />
          </li>
        ))}
        {evidence.length === 0 && <li class="muted">{words.van.noEvidence}</li>}
      </ul>
    </div>
  )
}
