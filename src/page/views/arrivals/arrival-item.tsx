import type { JSX } from 'preact'
import { useNow } from '../../data/hooks.ts'
import type { ArrivalRow } from '../../data/types.ts'
import { age, coordinates, exact, fullTime } from '../../format.ts'
import { CopyButton, Foreign } from '../../parts/basics.tsx'
import { Hex } from '../../parts/hex.tsx'
import { Icon } from '../../parts/icon.tsx'
import { href } from '../../router.ts'
import { words } from '../../words/index.ts'

interface ArrivalItemProps {
  readonly arrival: ArrivalRow
  readonly isMarked: boolean
  readonly mark: (device: string) => void
  readonly name: (device: string) => void
}

/** One sender: who it says it is, what we take it for and why, and what to do. */
export function ArrivalItem({ arrival, isMarked, mark, name }: ArrivalItemProps): JSX.Element {
  const now = useNow(5000)
  const { at, address, transport, port, protocol, evidence, device, bytes, position, waiting } = arrival
  // Without evidence it is what the port expects, and not what the sender speaks.
  const isGuessed = device === undefined && evidence.some((text) => text.startsWith(`${protocol}: `))
  return (
    <li class="arrival">
      {device === undefined ? (
        <span class="arrival-icon">
          <Icon name="unknown" />
        </span>
      ) : (
        <input
          type="checkbox"
          checked={isMarked}
          onChange={() => mark(device)}
          aria-label={words.arrivals.mark(device)}
        />
      )}
      <div class="arrival-body">
        <p class="arrival-title">
          {device === undefined ? (
            <span>{words.arrivals.notUnderstood}</span>
          ) : (
            <a class="mono" href={href('vans', { id: device })}>
              <Foreign text={device} />
            </a>
          )}
          {protocol && <span class="tag">{protocol}</span>}
          {waiting > 0 && <span class="badge warning">{words.arrivals.waiting(exact(waiting))}</span>}
        </p>
        <p class="finding-meta">
          <span class="num" title={fullTime(at)}>
            {age(at, now)}
          </span>
          <span class="num">
            {address} → {transport}
            {port !== undefined && `/${port}`}
          </span>
          {position && <span class="num">{coordinates(position)}</span>}
        </p>
        {evidence.length > 0 && (
          <ul class="evidence" aria-label={words.now.evidence}>
            {evidence.map((text, index) => (
              <li key={index}>
                <Foreign text={words.said(text)} />
              </li>
            ))}
          </ul>
        )}
        {bytes && (
          <details class="arrival-bytes">
            <summary>{words.arrivals.bytes(exact(bytes.length / 2))}</summary>
            <Hex bytes={bytes} />
            <CopyButton text={bytes} />
          </details>
        )}
        {protocol && isGuessed && <Setup protocol={protocol} />}
      </div>
      {device !== undefined && (
        <button type="button" class="button primary" onClick={() => name(device)}>
          {words.act.openArrivals}
        </button>
      )}
    </li>
  )
}

/** The command that prints what points a tracker of this protocol at us. */
function Setup({ protocol }: { protocol: string }): JSX.Element {
  const command = `npm run -s waybridge -- setup ${protocol} --host ${location.hostname}`
  return (
    <p class="arrival-setup">
      <span class="muted">{words.arrivals.setup}</span>
      <code class="mono">{command}</code>
      <CopyButton text={command} />
    </p>
  )
}
