import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import type { KeptFrameJson } from '../../../admin/schemas/kept-frames.ts'
import { api } from '../../data/api.ts'
import { useAsked, useNow } from '../../data/hooks.ts'
import { Ago, Command, Foreign, Panel, Raw } from '../../parts/basics.tsx'
import { Hex } from '../../parts/hex.tsx'
import { Icon } from '../../parts/icon.tsx'
import { href } from '../../router.ts'
import { words } from '../../words/index.ts'

/** The latest 500 frames that were kept because they could not be read, by protocol and reason. */
export function UnreadPanel(): JSX.Element | null {
  const { answer } = useAsked('misunderstood', () => api.misunderstood({ max_results: 500 }), RELOAD_MS)
  const families = useMemo(() => familiesOf(answer?.results ?? []), [answer])
  if (families.length === 0) return null
  return (
    <Panel title={words.arrivals.unread} hint={words.arrivals.unreadHint}>
      <ul class="arrivals">
        {families.map((frames) => (
          <Family key={keyOf(frames[0])} frames={frames} />
        ))}
      </ul>
      <div class="panel-note">
        <p class="finding-meta">{words.arrivals.unreadExport}</p>
        <Command text="npm run -s waybridge -- misunderstood export" />
      </div>
    </Panel>
  )
}

function Family({ frames }: { frames: readonly KeptFrameJson[] }): JSX.Element {
  const now = useNow(5000)
  const [{ at, device, error, hex, protocol, reason, text }] = frames
  const devices = new Set(frames.map((frame) => frame.device)).size
  const reasons: Readonly<Record<string, string>> = words.arrivals.unreadReasons
  return (
    <li class="arrival">
      <span class="arrival-icon">
        <Icon name="unknown" />
      </span>
      <div class="arrival-body">
        <p class="arrival-title">
          <span class="tag">{protocol}</span>
          {words.arrivals.unreadFrames(frames.length)}
          {devices === 1 ? (
            <a class="mono" href={href('vans', { id: device })}>
              <Foreign text={device} />
            </a>
          ) : (
            words.arrivals.unreadDevices(devices)
          )}
        </p>
        <p class="finding-meta">
          <Ago at={at} now={now} />
          <span>{reasons[reason] ?? reasons.other}</span>
          {error && <Foreign text={error} />}
        </p>
        <details class="arrival-bytes">
          <summary>{words.arrivals.latest}</summary>
          {hex === undefined ? <Raw text={text} /> : <Hex bytes={hex} />}
        </details>
      </div>
    </li>
  )
}

/** Returns the frames of each protocol and reason, latest first; the largest family first. */
function familiesOf(frames: readonly KeptFrameJson[]): KeptFrameJson[][] {
  return [...Map.groupBy(frames, keyOf).values()].toSorted((one, other) => other.length - one.length)
}

const keyOf = ({ protocol, reason, error = '' }: KeptFrameJson) => `${protocol} ${reason} ${error}`

const RELOAD_MS = 15_000
