import type { JSX } from 'preact'
import { useMemo, useRef, useState } from 'preact/hooks'
import { api } from '../../data/api.ts'
import { RequestError } from '../../data/client.ts'
import { useAsked, useEvents, useFleet } from '../../data/hooks.ts'
import { exact } from '../../format.ts'
import { Empty, FailureNote, Loading, Panel } from '../../parts/basics.tsx'
import { ChangeButton } from '../../parts/change-button.tsx'
import { href } from '../../router.ts'
import { words } from '../../words/index.ts'
import { EntryDialog } from '../van/entry-dialog.tsx'
import { ArrivalItem } from './arrival-item.tsx'
import { ForSomeCompanies } from './for-some-companies.tsx'
import { NameManyDialog } from './name-many-dialog.tsx'
import { type ArrivalSender, sendersOf } from './senders.ts'
import { JsonPanel } from './json-panel.tsx'
import { UnreadPanel } from './unread-panel.tsx'

/** Devices that send but are not configured, and senders that were not understood. */
export function Arrivals(): JSX.Element {
  const { answer, error, isLoading, again } = useAsked('arrivals', () => api.arrivals({ max_results: 500 }), RELOAD_MS)
  useEvents('arrival', again)
  const { vans } = useFleet()
  const places = useRef(new Map<string, number>()).current
  const senders = useMemo(() => inPlace(sendersOf(answer?.results ?? [], vans), places), [answer, vans.length])
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set())
  const [naming, setNaming] = useState<string>()
  if (error instanceof RequestError && error.status === 403) return <ForSomeCompanies />
  const devices = senders.filter(({ latest }) => latest.device !== undefined && !latest.configured)
  const unproven = senders.filter(({ latest }) => latest.configured)
  const others = senders.filter(({ latest }) => latest.device === undefined)
  const close = (isChanged: boolean) => {
    setNaming(undefined)
    if (!isChanged) return
    setMarked(new Set())
    again()
  }
  const mark = (device: string) => {
    setMarked((before) => {
      const changed = new Set(before)
      if (!changed.delete(device)) changed.add(device)
      return changed
    })
  }
  const item = (sender: ArrivalSender) => (
    <ArrivalItem
      key={sender.key}
      sender={sender}
      isMarked={marked.has(sender.latest.device ?? '')}
      mark={mark}
      name={setNaming}
    />
  )
  return (
    <div class="stack">
      <header class="view-head">
        <h1>
          {words.nav.arrivals} <span class="view-count num">{exact(senders.length)}</span>
        </h1>
        {marked.size > 0 && (
          <ChangeButton type="button" class="button primary" onClick={() => setNaming(MANY)}>
            {words.arrivals.nameMany(marked.size, exact(marked.size))}
          </ChangeButton>
        )}
        <a class="button" href={href('point')}>
          {words.point.title}
        </a>
      </header>
      {error && !answer && <FailureNote error={error} again={again} />}
      {isLoading && <Loading lines={6} />}
      {answer && senders.length === 0 && <Nobody />}
      {devices.length > 0 && (
        <Panel title={words.arrivals.devices} hint={words.arrivals.devicesHint}>
          <ul class="arrivals">{devices.map(item)}</ul>
        </Panel>
      )}
      {unproven.length > 0 && (
        <Panel title={words.arrivals.unproven} hint={words.arrivals.unprovenHint}>
          <ul class="arrivals">{unproven.map(item)}</ul>
        </Panel>
      )}
      {others.length > 0 && (
        <Panel title={words.arrivals.others} hint={words.arrivals.othersHint}>
          <ul class="arrivals">{others.map(item)}</ul>
        </Panel>
      )}
      <JsonPanel />
      <UnreadPanel />
      {naming === MANY && (
        <NameManyDialog
          devices={devices.flatMap(({ latest }) => latest.device ?? []).filter((id) => marked.has(id))}
          close={close}
        />
      )}
      {naming !== undefined && naming !== MANY && (
        <EntryDialog detail={{ id: naming, configured: false }} close={close} />
      )}
    </div>
  )
}

/** The newest first; a sender keeps its place while others send, so that no button moves away under a hand. */
function inPlace(senders: readonly ArrivalSender[], places: Map<string, number>): ArrivalSender[] {
  for (const { key } of senders.toReversed()) if (!places.has(key)) places.set(key, places.size)
  return senders.toSorted((a, b) => (places.get(b.key) ?? 0) - (places.get(a.key) ?? 0))
}

function Nobody(): JSX.Element {
  const port = document.querySelector<HTMLMetaElement>('meta[name="waybridge-port"]')?.content
  return (
    <section class="panel">
      <Empty icon="arrivals" title={words.arrivals.none} text={words.arrivals.noneText(location.hostname, port)}>
        <a class="button primary" href={href('point')}>
          {words.point.title}
        </a>
      </Empty>
    </section>
  )
}

/** Cannot be a device id, because it has a blank. */
const MANY = 'several devices'
const RELOAD_MS = 5000
