import type { JSX } from 'preact'
import type { TriedDeviceJson } from '../../../admin/schemas/trial.ts'
import { api } from '../../data/api.ts'
import { exact } from '../../format.ts'
import { Foreign } from '../../parts/basics.tsx'
import { ChangeButton } from '../../parts/change-button.tsx'
import { Hex } from '../../parts/hex.tsx'
import { useToastedWork } from '../../parts/work.ts'
import { href } from '../../router.ts'
import { words } from '../../words/index.ts'
import { entryBody } from '../van/entry-dialog.tsx'

interface TriedDeviceProps {
  readonly tried: TriedDeviceJson
  readonly changed: () => void
}

/** A device on trial: its last reading, the first answer that differs, and which server answers it. */
export function TriedDevice({ tried, changed }: TriedDeviceProps): JSX.Element {
  const { answers_different, answers_equal, device, frames, name, not_understood, positions, protocol } = tried
  const answers = answers_equal + answers_different
  return (
    <>
      <tr>
        <td>
          <a href={href('vans', { id: device })}>
            <Foreign text={name ?? device} />
          </a>
        </td>
        <td class="wide-only">{protocol}</td>
        <td class="num">
          {exact(frames)}
          {not_understood > 0 && <span class="tag is-error">{words.trial.notUnderstood(exact(not_understood))}</span>}
        </td>
        <td class="num">{exact(positions)}</td>
        <td class="num">
          {answers === 0 ? (
            <span class="muted">{words.trial.noneCompared}</span>
          ) : (
            <span class={answers_different > 0 ? 'tag is-error' : undefined}>
              {words.trial.of(exact(answers_equal), exact(answers))}
            </span>
          )}
        </td>
        <td>
          <Switch tried={tried} changed={changed} />
        </td>
      </tr>
      {tried.first_difference && (
        <tr>
          <td colSpan={6}>
            <Difference {...tried.first_difference} />
          </td>
        </tr>
      )}
    </>
  )
}

/** Who answers a device, and what changes that. */
function Switch({ tried, changed }: TriedDeviceProps): JSX.Element {
  const { configured, device, feed, name = device, trial } = tried
  const { isBusy, run } = useToastedWork()
  if (!configured) return <span class="muted">{words.trial.unknown}</span>
  const put = (change: { trial?: 'on' | 'off'; feed?: boolean }, done: string) =>
    run(async () => {
      await api.putDevice(device, { ...entryBody(await api.device(device)), ...change })
      return done
    }).then(changed)
  if (trial === 'on')
    return (
      <>
        {words.trial.old}{' '}
        <ChangeButton
          type="button"
          class="button small"
          disabled={isBusy}
          onClick={() => void put({ trial: 'off' }, words.trial.switched(name))}
        >
          {words.trial.switch}
        </ChangeButton>
      </>
    )
  return (
    <>
      {feed ? words.trial.fed : words.trial.us}{' '}
      <ChangeButton
        type="button"
        class="button small"
        disabled={isBusy}
        onClick={() => void put({ trial: 'on' }, words.trial.switchedBack(name))}
      >
        {words.trial.back}
      </ChangeButton>{' '}
      <ChangeButton
        type="button"
        class="button quiet small"
        disabled={isBusy}
        onClick={() => void put({ feed: !feed }, words.trial.saved)}
      >
        {feed ? words.trial.noFeed : words.trial.feed}
      </ChangeButton>
    </>
  )
}

function Difference({ frame, old, ours }: NonNullable<TriedDeviceJson['first_difference']>): JSX.Element {
  const parts = [
    [words.trial.to, frame],
    [words.trial.oldSaid, old],
    [words.trial.oursWould, ours],
  ] as const
  return (
    <details>
      <summary>{words.trial.difference}</summary>
      {parts.map(([title, hex]) => (
        <div key={title}>
          <p class="muted">{title}</p>
          {hex === '' ? <p>{words.trial.nothing}</p> : <Hex bytes={hex} />}
        </div>
      ))}
    </details>
  )
}
