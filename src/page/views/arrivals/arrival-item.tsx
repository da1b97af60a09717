import type { JSX } from 'preact'
import { useNow } from '../../data/hooks.ts'
import { nameOf } from '../../data/van.ts'
import { coordinates, exact, fullTime, time } from '../../format.ts'
import { Ago, CopyButton, Foreign } from '../../parts/basics.tsx'
import { Hex } from '../../parts/hex.tsx'
import { Icon } from '../../parts/icon.tsx'
import { href } from '../../router.ts'
import { ChangeButton } from '../../parts/change-button.tsx'
import { words } from '../../words/index.ts'
import type { ArrivalSender } from './senders.ts'

interface ArrivalItemProps {
  readonly sender: ArrivalSender
  readonly isMarked: boolean
  readonly mark: (device: string) => void
  readonly name: (device: string) => void
}

/** One sender: its claimed identity, the guessed protocol with its evidence, and the action. */
export function ArrivalItem({ sender, isMarked, mark, name }: ArrivalItemProps): JSX.Element {
  const now = useNow(5000)
  const { at, address, transport, port, protocol, evidence, device, bytes, position, waiting, configured } =
    sender.latest
  const isNew = device !== undefined && !configured
  return (
    <li class="arrival">
      {!isNew ? (
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
            <Unread sender={sender} />
          ) : (
            <a class="mono" href={href('vans', { id: device })}>
              <Foreign text={sender.van ? nameOf(sender.van) : device} />
            </a>
          )}
          {protocol && <span class="tag">{device === undefined ? words.arrivals.expects(protocol) : protocol}</span>}
          {waiting > 0 && <span class="badge warning">{words.arrivals.waiting(exact(waiting))}</span>}
        </p>
        <p class="finding-meta">
          <Ago at={at} now={now} />
          <span class="num">
            {address} → {transport}
            {port !== undefined && `/${port}`}
          </span>
          {sender.connections > 1 && (
            <span class="num" title={fullTime(sender.firstAt)}>
              {words.arrivals.times(exact(sender.connections), time(sender.firstAt))}
            </span>
          )}
          {position && <span class="num">{coordinates(position)}</span>}
        </p>
        {evidence.length > 0 && <Evidence texts={evidence} protocol={device === undefined ? undefined : protocol} />}
        {bytes && (
          <details class="arrival-bytes">
            <summary>{words.arrivals.bytes(exact(bytes.length / 2))}</summary>
            <Hex bytes={bytes} />
            <CopyButton text={bytes} />
          </details>
        )}
      </div>
      {isNew && (
        <ChangeButton type="button" class="button primary" onClick={() => name(device)}>
          {words.act.openArrivals}
        </ChangeButton>
      )}
    </li>
  )
}

/** Explains in one sentence why the sender is read with a protocol; without a protocol, lists the possible ones. */
function Evidence({ texts, protocol }: { texts: readonly string[]; protocol: string | undefined }): JSX.Element {
  const lines =
    protocol === undefined
      ? texts.map((text) => `${words.arrivals.perhaps} ${text}`)
      : [`${words.arrivals.because(protocol)} ${texts.join(', ')}`]
  return (
    <ul class="evidence" aria-label={words.now.evidence}>
      {lines.map((text, index) => (
        <li key={index}>
          <Foreign text={text} />
        </li>
      ))}
    </ul>
  )
}

/** A sender that was not understood: shows the configured van whose id is in its bytes, if there is one. */
function Unread({ sender: { van } }: { sender: ArrivalSender }): JSX.Element {
  if (!van) return <span>{words.arrivals.notUnderstood}</span>
  return (
    <span>
      <a href={href('vans', { id: van.id })}>
        <Foreign text={nameOf(van)} />
      </a>{' '}
      <span class="muted">{words.arrivals.vanNotUnderstood}</span>
    </span>
  )
}
