import { ok, type Respond, status } from '../rig/api.ts'
import { untilSo } from '../support/processes.ts'
import type { Fault } from './fault.ts'
import type { Site } from './site.ts'

export function refusing(code: number): Respond {
  return status(code, '{"message":"no"}', { 'content-type': 'application/json' })
}

export function answering(respond: Respond): Fault['begin'] {
  return async ({ api }) => {
    api.respond(respond)
    return () => {
      api.respond(ok)
      api.cut()
    }
  }
}

/** Sends what is wrong each second; then what is right. */
export function repeating(
  wrong: (site: Site) => Promise<unknown>,
  right: (site: Site) => Promise<unknown>,
): Fault['begin'] {
  return async (site) => {
    const timer = setInterval(() => void wrong(site).catch(() => {}), 1000)
    await wrong(site)
    return () => {
      clearInterval(timer)
      const sending = setInterval(() => void right(site).catch(() => {}), 1000)
      setTimeout(() => clearInterval(sending), 8000)
    }
  }
}

export async function edit({ product }: Site, file: string, change: (yaml: string) => string): Promise<void> {
  await product.write(file, change(await product.read(file)))
}

/** Changes a file until it is taken back. */
export async function editing(site: Site, file: string, change: (text: string) => string) {
  const before = await site.product.read(file)
  await edit(site, file, change)
  return () => site.product.write(file, before)
}

/** Waits until an answer of the admin port has a text. */
export async function says({ product }: Site, path: string, text: string): Promise<void> {
  await untilSo(async () => JSON.stringify(await product.admin(path)).includes(text), SOON)
}

/** Long enough for what takes effect at once. */
export const SOON = { withinMs: 30_000 }
