import { type AdminPort, type AdminPortOptions, findAdminPort } from './admin-port.ts'
import { type DeviceAnswer, type ParkedAnswer, ParkedPage } from './answers.ts'
import { ask, jsonOf } from './ask.ts'
import { clockIn } from './clock.ts'
import { devicesCalled } from './devices.ts'
import { gatewayStatus } from './gateway.ts'
import { say } from './output.ts'
import { reason } from './reason.ts'

/** `waybridge why DEVICE`, a line for each device of that id or name; answers with the exit code. @throws UserError */
export async function whyCommand(device: string, options: AdminPortOptions): Promise<number> {
  const admin = await findAdminPort(options)
  const { upstream, time_zone } = await gatewayStatus(admin)
  const devices = await devicesCalled(admin, device)
  const now = Date.now()
  const clock = clockIn(time_zone, now)
  const lines = devices.map(async (each) => {
    const line = reason({ device: each, parked: await parkedOf(admin, each), upstream, now }, clock)
    return devices.length > 1 ? `${each.id}: ${line}` : line
  })
  say(await Promise.all(lines))
  return 0
}

/** What is parked of the device's courier. */
async function parkedOf(admin: AdminPort, { lane, company_id, courier_id }: DeviceAnswer): Promise<ParkedAnswer[]> {
  const courier = lane?.courier_id ?? courier_id
  if (courier === undefined) return []
  const query = { courier_id: courier, max_results: '1000' }
  const answer = await ask(admin, { path: '/admin/parked', query })
  const { results } = jsonOf(admin, answer, ParkedPage)
  return results.filter((each) => each.company_id === company_id)
}
