import type * as z from 'zod'
import type { ForgottenJson } from '../admin/device/forget.ts'
import { type AdminPortOptions, findAdminPort } from './admin-port.ts'
import { namedDevices, read } from './client.ts'
import { countText, printable, printLines } from './output.ts'
import { confirmChange } from './question.ts'

/**
 * `waybridge forget DEVICE`: asks, unless `yes` is given, then prints what was deleted, one line for each device with that id
 * or name. An unconfigured device is named by its id. An id that nothing is stored for is an error. @returns the exit code: 1
 * if something could not be deleted now, or there was nothing to delete @throws UserError
 */
export async function forgetCommand(idOrName: string, options: ForgetOptions): Promise<number> {
  const admin = await findAdminPort(options)
  const named = await namedDevices(admin, idOrName).catch((error: Error) => error)
  const devices = named instanceof Error ? [{ id: idOrName, name: 'a device that is not listed' }] : named
  if (!options.yes && !(await isMeant(devices))) return 1
  let isAll = true
  for (const { id } of devices) {
    const path = `/admin/devices/${encodeURIComponent(id)}/data`
    const deleted = await read<Forgotten>(admin, { method: 'DELETE', path, timeoutMs: TIMEOUT_MS })
    // An unlisted device may still have marks and frames.
    if (named instanceof Error && Object.values(deleted).every((count) => count === 0)) throw named
    printLines(textOf(id, deleted))
    isAll &&= deleted.busy === 0
  }
  return isAll ? 0 : 1
}

interface ForgetOptions extends AdminPortOptions {
  /** Deletes without asking. */
  readonly yes?: boolean
}

async function isMeant(devices: readonly { readonly id: string; readonly name?: string }[]): Promise<boolean> {
  const names = devices.map(({ id, name }) => (name === undefined ? id : `${id} (${name})`)).join(', ')
  const question = `This deletes what is stored of ${names}, also what is not delivered yet. Go on?`
  return confirmChange(printable(question), 'this deletes what is stored; add --yes')
}

type Forgotten = z.infer<typeof ForgottenJson>

function textOf(
  id: string,
  { waiting, parked, held, marks, contacts, frames, kept, copied, busy }: Forgotten,
): string[] {
  const all = `${waiting} waiting, ${parked} parked and ${held} held fixes`
  const rest = `${countText(marks, 'mark of duplicates', 'marks of duplicates')}, ${countText(contacts, 'contact and event', 'contacts and events')}, ${countText(frames, 'frame that was', 'frames that were')} not understood, ${countText(kept, 'delivered fix that was', 'delivered fixes that were')} kept, ${countText(copied, 'fix', 'fixes')} for copies`
  const again = `${countText(busy, 'lane is', 'lanes are')} being pushed at this moment: run the command again`
  return [`${id}: deleted ${all}, ${rest}`, ...(busy > 0 ? [`${id}: ${again}`] : [])]
}

/** Time to wait for a hundred lanes. */
const TIMEOUT_MS = 600_000
