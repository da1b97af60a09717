import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { protocolPorts } from '../../protocols/index.ts'
import { ROOT } from '../support/structure/sources.ts'

/** The protocols whose files a process has loaded after running some code. */
async function loadedBy(code: string): Promise<string[]> {
  const watching = `
    import { registerHooks } from 'node:module'
    const urls = []
    registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) })
    ${code}
    console.log(JSON.stringify(urls))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', watching], { cwd: ROOT })
  const urls: readonly string[] = JSON.parse(stdout)
  const names = urls.flatMap((url) => /\/protocols\/(\w+)\/index\.ts$/.exec(url)?.[1] ?? [])
  return names.filter((name) => name !== 'kit')
}

it('the names and ports of protocols, and the configuration, load no protocol', async () => {
  expect(protocolPorts.length).toBeGreaterThan(6)
  expect(
    await loadedBy(`await import('${ROOT}protocols/index.ts'); await import('${ROOT}src/config/files.ts')`),
  ).toEqual([])
})

it('a gateway, a worker and the admin process begin without any protocol', async () => {
  const roles = ['gateway', 'worker', 'admin', 'tracking'].map(
    (role) => `await import('${ROOT}src/process/roles/${role}.ts')`,
  )
  expect(await loadedBy(roles.join('\n'))).toEqual([])
})

it('a protocol is loaded when it is asked for, and no other one', async () => {
  const asked = `const { loadProtocol } = await import('${ROOT}protocols/index.ts'); await loadProtocol('gt06')`
  expect(await loadedBy(asked)).toEqual(['gt06'])
})
