import type { JSX } from 'preact'
import { api, unlessMissing } from '../../data/api.ts'
import { RequestError } from '../../data/client.ts'
import { useAsked, useEvents } from '../../data/hooks.ts'
import type { VanChain, VanDetail, VanRow } from '../../data/types.ts'
import { Empty, Failure, Loading } from '../../parts/basics.tsx'
import { href } from '../../router.ts'
import { words } from '../../words/index.ts'
import { ChainPanel } from './chain-panel.tsx'
import { DaysPanel } from './days-panel.tsx'
import { EventsPanel } from './events-panel.tsx'
import { FramesPanel } from './frames-panel.tsx'
import { TrackPanel } from './track-panel.tsx'
import { VanFacts } from './van-facts.tsx'
import { VanHead } from './van-head.tsx'

/** All that is known of one van: where it is, why its positions arrive or do not, and what can be done. */
export function VanView({ id }: { id: string }): JSX.Element {
  const { answer, error, isLoading, again } = useAsked(`van ${id}`, () => readVan(id), RELOAD_MS)
  useEvents('device', (data) => {
    const { results = [] } = (data ?? {}) as { results?: readonly VanRow[] }
    if (results.some((van) => van.id === id)) again()
  })
  if (isLoading) return <Loading lines={8} />
  if (!answer)
    return error instanceof RequestError && error.status === 404 ? <NoVan /> : <Failure error={error} again={again} />
  const { detail, chain } = answer
  return (
    <div class="van stack">
      <VanHead detail={detail} chain={chain} changed={again} />
      {chain && <ChainPanel chain={chain} />}
      <DaysPanel id={id} />
      <div class="van-grid">
        <TrackPanel detail={detail} row={chain?.device} />
        <div class="stack">
          <VanFacts detail={detail} changed={again} />
          <EventsPanel events={detail.events} />
        </div>
      </div>
      <FramesPanel id={id} />
    </div>
  )
}

async function readVan(id: string): Promise<{ detail: VanDetail; chain?: VanChain }> {
  const [detail, chain] = await Promise.all([api.device(id), unlessMissing(api.chain(id))])
  return { detail, chain }
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
