import type { TrialJson, TriedDeviceJson } from '../admin/schemas/trial.ts'
import { needsLook } from '../diagnose/trial.ts'
import { type AdminPortOptions, findAdminPort } from './admin-port.ts'
import { read } from './client.ts'
import { printExact, printLines, table } from './output.ts'

/**
 * `waybridge trial`: the verdict of the trials, then a line for each device, those that want a look first.
 * @returns the exit code: 1 if a device wants a look
 * @throws UserError
 */
export async function trialCommand({ json, ...options }: AdminPortOptions & { json?: boolean }): Promise<number> {
  const admin = await findAdminPort(options)
  const trial = await read<TrialJson>(admin, { path: '/admin/trial' })
  if (json) printExact([JSON.stringify(trial, undefined, 2)])
  else printLines(linesOf(trial))
  return trial.devices.some(needsLook) ? 1 : 0
}

function linesOf({ account, devices, left_out, running, verdict }: TrialJson): string[] {
  return [
    running ? verdict : devices.length === 0 ? 'no trial runs now' : `no trial runs now; of the last one: ${verdict}`,
    ...(account && (running || devices.length > 0)
      ? [`${account.seen} frames: ${account.stored} stored or noted, ${account.missed} missed`]
      : []),
    ...(devices.length > 0 ? ['', ...table(HEADS, devices.map(columnsOf))] : []),
    ...(left_out > 0 ? [`and ${left_out} more`] : []),
    ...devices.flatMap(differenceLines).slice(0, MOST_LINES),
  ]
}

function columnsOf(device: TriedDeviceJson): string[] {
  const { answers_different, answers_equal, frames, name, not_understood, positions, protocol } = device
  const answers = answers_equal + answers_different
  const equal = answers === 0 ? 'none compared' : `${answers_equal} of ${answers}`
  const understood = not_understood === 0 ? 'all' : `all but ${not_understood}`
  const from = device.trial === 'on' ? 'the old server' : device.feed ? 'us, fed on' : 'us'
  return [name ?? device.device, protocol, String(frames), understood, String(positions), equal, from]
}

/** The first difference of a device, as hex. */
function differenceLines({ device, first_difference: difference, name }: TriedDeviceJson): string[] {
  if (!difference) return []
  const { frame, old, ours } = difference
  return [
    '',
    `${name ?? device} at ${difference.at}: to ${frame || 'no frame'}`,
    `  the old server: ${old || 'nothing'}`,
    `  waybridge:      ${ours || 'nothing'}`,
  ]
}

const HEADS = ['device', 'protocol', 'frames', 'understood', 'positions', 'answers equal', 'answered by']
const MOST_LINES = 80
