import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import type { ChainJson } from '../../../admin/schemas/chain.ts'
import type { DeviceJson, DeviceRowJson } from '../../../admin/schemas/devices.ts'
import { api, unlessMissing } from '../../data/api.ts'
import { RequestError } from '../../data/client.ts'
import { dayAt, isDay, localDay } from '../../data/day.ts'
import { useAsked, useEvents, useLive } from '../../data/hooks.ts'
import { nameOf } from '../../data/van.ts'
import { Empty, FailureNote, Foreign, Loading } from '../../parts/basics.tsx'
import { go, href } from '../../router.ts'
import { words } from '../../words/index.ts'
import { ChainPanel } from './chain-panel.tsx'
import { DaysPanel } from './days-panel.tsx'
import { EventsPanel } from './events-panel.tsx'
import { FramesPanel } from './frames-panel.tsx'
import { SaidPanel } from './said-panel.tsx'
import { TrackPanel } from './track-panel.tsx'
import { VanFacts } from './van-facts.tsx'
import { VanHead, VanSentence } from './van-head.tsx'

interface VanViewProps {
  readonly id: string
  /** `day`: the day of the gaps and the way; default: today. */
  readonly query: URLSearchParams
}

/** Everything about one van: where it is, why its positions arrive or do not, and what can be done. */
export function VanView({ id, query }: VanViewProps): JSX.Element {
  const { answer, error, isLoading, again } = useAsked(`van ${id}`, () => readVan(id), RELOAD_MS)
  useEvents('device', (data) => {
    const { results = [] } = (data ?? {}) as { results?: readonly DeviceRowJson[] }
    if (results.some((van) => van.id === id)) again()
  })
  const history = useAsked(`days ${id}`, () => unlessMissing(api.history(id)).then((found) => found ?? null), DAYS_MS)
  const known = useRef<DeviceJson>(undefined)
  const zone = useLive().status?.time_zone ?? 'UTC'
  const today = dayAt(Date.now(), zone)
  const asked = query.get('day')
  const day = isDay(asked) && asked <= today ? asked : today
  if (isLoading) return <Loading lines={8} />
  if (!answer)
    return error instanceof RequestError && error.status === 404 ? (
      <NoVan />
    ) : (
      <FailureNote error={error} again={again} />
    )
  const { chain } = answer
  known.current = answer.detail ?? known.current
  const detail = known.current?.id === id ? known.current : undefined
  if (!detail) return <>{chain && <ChainAlone chain={chain} />}</>
  return (
    <div class="van stack">
      <VanHead detail={detail} chain={chain} changed={again} />
      {chain && <ChainPanel chain={chain} />}
      {history.answer !== null && !history.error && (
        <DaysPanel
          days={history.answer?.days}
          chosen={day}
          choose={(other) =>
            go(href('vans', { id, query: { day: other === today ? undefined : other } }), { replace: true })
          }
        />
      )}
      <div class="van-grid">
        <TrackPanel
          key={day}
          detail={detail}
          row={chain?.device}
          day={localDay(day, zone)}
          sheet={history.answer?.days.find(({ date }) => date === day)}
        />
        <div class="stack">
          <VanFacts detail={detail} changed={again} />
          {detail.said && <SaidPanel said={detail.said} />}
          <EventsPanel events={detail.events} />
        </div>
      </div>
      <FramesPanel id={id} />
    </div>
  )
}

/** `detail` is missing if Redis does not answer; the admin port then explains from its memory why nothing arrives. */
async function readVan(id: string): Promise<{ detail?: DeviceJson; chain?: ChainJson }> {
  const [detail, chain] = await Promise.allSettled([api.device(id), unlessMissing(api.chain(id))])
  const answered = { chain: chain.status === 'fulfilled' ? chain.value : undefined }
  if (detail.status === 'fulfilled') return { ...answered, detail: detail.value }
  const isAway = detail.reason instanceof RequestError && detail.reason.status === 503
  if (isAway && answered.chain) return answered
  throw detail.reason
}

function ChainAlone({ chain }: { chain: ChainJson }): JSX.Element {
  return (
    <div class="van stack">
      <header class="van-head">
        <div class="van-title">
          <h1>
            <Foreign text={nameOf(chain.device)} />
          </h1>
        </div>
        <VanSentence chain={chain} />
      </header>
      <ChainPanel chain={chain} />
    </div>
  )
}

function NoVan(): JSX.Element {
  return (
    <section class="panel">
      <Empty icon="vans" title={words.van.missing} text={words.van.missingText}>
        <a class="button" href={href('vans')}>
          {words.van.all}
        </a>
        <a class="button" href={href('arrivals')}>
          {words.now.toArrivals}
        </a>
      </Empty>
    </section>
  )
}

const RELOAD_MS = 5000
const DAYS_MS = 20_000
