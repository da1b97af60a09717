import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { ChainJson } from '../../../admin/schemas/chain.ts'
import type { DeviceJson } from '../../../admin/schemas/devices.ts'
import { useNow } from '../../data/hooks.ts'
import { nameOf, speedOf, whereIs } from '../../data/van.ts'
import { age, capital, speed, withTimes } from '../../format.ts'
import { ConditionDot, CopyButton, Foreign } from '../../parts/basics.tsx'
import { Icon } from '../../parts/icon.tsx'
import { href } from '../../router.ts'
import { ChangeButton } from '../../parts/change-button.tsx'
import { words } from '../../words/index.ts'
import { AssignDialog } from './assign-dialog.tsx'
import { EntryDialog } from './entry-dialog.tsx'

interface VanHeadProps {
  readonly detail: DeviceJson
  readonly chain: ChainJson | undefined
  readonly changed: () => void
}

/** Name, state and place of the van in one look, the sentence that explains it, and the actions. */
export function VanHead({ detail, chain, changed }: VanHeadProps): JSX.Element {
  const [dialog, setDialog] = useState<'assign' | 'entry'>()
  const now = useNow()
  const row = chain?.device ?? detail
  const { position, place } = row
  const at = whereIs(row)
  const fix = detail.last_fix
  const kmh = speedOf(row)
  const lane = detail.lane
  const close = (isChanged: boolean) => {
    setDialog(undefined)
    if (isChanged) changed()
  }
  return (
    <header class="van-head">
      <nav class="crumbs" aria-label={words.nav.label}>
        <a href={href('vans')}>{words.nav.vans}</a>
        <Icon name="chevron" size={12} />
        <span class="mono">
          <Foreign text={detail.id} />
        </span>
      </nav>
      <div class="van-title">
        <h1>
          <Foreign text={nameOf(detail)} />
        </h1>
        <span class="state-chip">
          <ConditionDot van={row} />
        </span>
        <span class="van-actions">
          {detail.configured && (
            <ChangeButton type="button" class="button primary" onClick={() => setDialog('assign')}>
              {lane ? words.van.reassign : words.van.assign}
            </ChangeButton>
          )}
          <ChangeButton
            type="button"
            class={`button ${detail.configured ? '' : 'primary'}`}
            onClick={() => setDialog('entry')}
          >
            {detail.configured ? words.van.edit : words.van.configure}
          </ChangeButton>
          <CopyButton text={detail.id} label={words.van.copyId} />
        </span>
      </div>
      {chain && <VanSentence chain={chain} />}
      <ul class="van-figures">
        <Figure
          name={words.van.where}
          value={place ? place : at ? `${at.lat.toFixed(4)}, ${at.lon.toFixed(4)}` : '–'}
        />
        <Figure name={words.van.fix} value={age(position?.at ?? fix?.time_at ?? detail.last_heard?.at, now)} />
        <Figure name={words.vans.column.speed} value={kmh === undefined ? '–' : speed(kmh)} />
        <Figure name={words.vans.column.route} value={lane ? lane.route_id : words.none} />
        <Figure name={words.van.courier} value={lane ? lane.courier_id : '–'} />
      </ul>
      {dialog === 'assign' && <AssignDialog detail={detail} close={close} />}
      {dialog === 'entry' && <EntryDialog detail={detail} close={close} />}
    </header>
  )
}

/** The trouble of the van, or that its positions arrive, in plain words; the operator's words are one click away. */
export function VanSentence({ chain }: { chain: ChainJson }): JSX.Element {
  const plain = plainSentence(chain)
  const sentence = withTimes(chain.sentence)
  if (plain === undefined) return <p class="van-sentence">{sentence}</p>
  return (
    <>
      <p class="van-sentence">
        <Foreign text={plain} />
      </p>
      <div class="operator">
        <details>
          <summary>{words.operator.details}</summary>
          <p>
            <Foreign text={sentence} />
          </p>
        </details>
        <CopyButton text={chain.sentence} label={words.operator.copy} />
      </div>
    </>
  )
}

/** Undefined if only the operator's words explain why nothing arrives. */
function plainSentence({ broken, device, links }: ChainJson): string | undefined {
  const { problem } = device
  const finding = links.find(({ link }) => link === broken)?.finding?.plain
  const isFirst = broken === null || problem?.link === broken || problem?.code === 'sos'
  const cause = isFirst ? (problem ?? finding) : (finding ?? problem)
  if (cause) return withTimes(`${capital(cause.message)}. ${capital(cause.action)}.`)
  return links.every(({ state }) => state === 'ok') ? words.van.arrives : undefined
}

function Figure({ name, value }: { name: string; value: string }): JSX.Element {
  return (
    <li>
      <span class="figure-name">{name}</span>
      <span class="figure-value num">{value}</span>
    </li>
  )
}
