import { join } from 'node:path'
import type { Ports } from '../../run/messages.ts'
import { type Site, usualDemoPorts } from './site.ts'
import type { Paint } from './view.ts'

/** What runs where, and how to ask the admin port. */
export function announcement({ dataDir, folder }: Site, ports: Ports, paint: Paint): string[] {
  const url = `http://127.0.0.1:${ports.admin}/admin/status`
  const moved = movedPorts(ports)
  return [
    `  Everything runs on 127.0.0.1, its data in ${folder}.`,
    ...(moved.length > 0 ? [`  Usual ports that are taken: ${moved.join(', ')}.`] : []),
    '',
    `  ${paint('dim', 'admin port')}   ${paint('cyan', url)}`,
    `  ${paint('dim', 'ask it')}       curl --oauth2-bearer "$(cat ${join(dataDir, 'admin-token')})" \\`,
    `                 ${url}`,
    '',
  ]
}

/** `gt06 on 40123` … */
function movedPorts(ports: Ports): string[] {
  const usual = usualDemoPorts()
  const moved = Object.entries(ports).filter(([name, port]) => usual[name] !== undefined && usual[name] !== port)
  return moved.map(([name, port]) => `${name} now on ${port}`)
}
