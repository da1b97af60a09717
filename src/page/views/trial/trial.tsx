import type { JSX } from 'preact'
import type { TrialJson } from '../../../admin/schemas/trial.ts'
import { api } from '../../data/api.ts'
import { useAsked } from '../../data/hooks.ts'
import { exact } from '../../format.ts'
import { Empty, FailureNote, Loading, Panel } from '../../parts/basics.tsx'
import { Fact } from '../../parts/fact.tsx'
import { words } from '../../words/index.ts'
import { TriedDevice } from './tried-device.tsx'

/** Frames that came through old servers, the answers that waybridge would have given, and the devices that it already answers. */
export function Trial(): JSX.Element {
  const { answer, error, again } = useAsked('trial', () => api.trial(), RELOAD_MS)
  return (
    <div class="stack">
      <header class="view-head">
        <h1>{words.nav.trial}</h1>
      </header>
      {error && !answer && <FailureNote error={error} again={again} />}
      {!answer && !error && <Loading lines={6} />}
      {answer && <Devices trial={answer} changed={again} />}
    </div>
  )
}

function Devices({ trial, changed }: { trial: TrialJson; changed: () => void }): JSX.Element {
  const { account, devices, left_out, running, verdict } = trial
  if (devices.length === 0) return <Empty icon="trial" title={words.trial.none} text={words.trial.noneText} />
  return (
    <Panel title={verdict} hint={running ? undefined : words.trial.ended}>
      {account && (
        <dl class="facts">
          <Fact name={words.trial.seen}>{exact(account.seen)}</Fact>
          <Fact name={words.trial.stored}>{exact(account.stored)}</Fact>
          <Fact name={words.trial.missed}>{exact(account.missed)}</Fact>
        </dl>
      )}
      <div class="scroll-x" tabIndex={0} role="region" aria-label={words.nav.trial}>
        <table class="table">
          <thead>
            <tr>
              <th>{words.trial.device}</th>
              <th class="wide-only">{words.trial.protocol}</th>
              <th>{words.trial.frames}</th>
              <th>{words.trial.positions}</th>
              <th>{words.trial.answers}</th>
              <th>{words.trial.by}</th>
            </tr>
          </thead>
          <tbody>
            {devices.map((device) => (
              <TriedDevice key={device.device} tried={device} changed={changed} />
            ))}
          </tbody>
        </table>
      </div>
      {left_out > 0 && <p class="muted">{words.trial.leftOut(exact(left_out))}</p>}
    </Panel>
  )
}

const RELOAD_MS = 3000
