import { join } from 'node:path'
import type { Ports } from '../../process/role.ts'
import { type Site, usualDemoPorts } from './site.ts'
import type { Paint } from './view.ts'

/** What runs where, and how to ask the admin port. */
export function announcement({ dataDir, folder }: Site, ports: Ports, paint: Paint): string[] {
  const url = `http://127.0.0.1:${ports.admin}/admin/status`
  const usual = usualDemoPorts()
  const moved = Object.entries(ports).some(([name, port]) => usual[name] !== undefined && usual[name] !== port)
  return [
    `  Everything runs on 127.0.0.1, its data in ${folder}.`,
    ...(moved ? [`  Usual ports are taken: ${join(dataDir, 'ports.json')} says what is where.`] : []),
    '',
    `  ${paint('dim', 'admin port')}   ${paint('cyan', url)}`,
    `  ${paint('dim', 'ask it')}       curl --oauth2-bearer "$(cat ${join(dataDir, 'admin-token')})" \\`,
    `                 ${url}`,
    '',
  ]
}
