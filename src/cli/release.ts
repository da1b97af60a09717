import type * as z from 'zod'
import type { ReleasedJson } from '../admin/device/release.ts'
import { type AdminPortOptions, findAdminPort } from './admin-port.ts'
import { namedDevices, read } from './client.ts'
import { countText, printLines } from './output.ts'

/**
 * `waybridge release DEVICE`: has the fixes delivered that are held because they are off the track of the device; one line for each
 * device with that id or name.
 * @returns the exit code
 * @throws UserError
 */
export async function releaseCommand(idOrName: string, options: AdminPortOptions): Promise<number> {
  const admin = await findAdminPort(options)
  for (const { id } of await namedDevices(admin, idOrName)) {
    const path = `/admin/devices/${encodeURIComponent(id)}/release`
    const { released } = await read<z.infer<typeof ReleasedJson>>(admin, { method: 'POST', path })
    printLines([
      `${id}: released ${countText(released, 'fix', 'fixes')} that ${released === 1 ? 'was' : 'were'} held as suspicious`,
    ])
  }
  return 0
}
