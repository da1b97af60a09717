import { type ChildProcess, type ExecFileException, execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'
import { engineEnv, NAMESPACE } from './place.mjs'

const exec = promisify(execFile)
const OUTPUT_BYTES = 64 * 1024 * 1024
/** Builds leave the namespace of the containers, to reach the packages. */
const env = { ...engineEnv, WAYBRIDGE_OUTSIDE: `/proc/${process.pid}/ns/net` }

/** Runs a program to its end outside of the namespace; returns what it prints. @throws Error with what it said. */
export async function run(command: string, ...args: string[]): Promise<string> {
  try {
    return (await exec(command, args, { env, maxBuffer: OUTPUT_BYTES })).stdout
  } catch (error) {
    const { code, stdout, stderr } = error as ExecFileException & { stdout: string; stderr: string }
    const said = `${stdout}${stderr}`.slice(-4000)
    throw new Error(`${command} ${args.join(' ')}: ${code}\n${said}`, { cause: error })
  }
}

/** Runs podman in the namespace. */
export function podman(...args: string[]): Promise<string> {
  return run(...within('podman', args))
}

/** The words of a command that runs in the network namespace of the containers. */
export function within(command: string, args: readonly string[]): [string, ...string[]] {
  return ['nsenter', `--net=/run/netns/${NAMESPACE}`, command, ...args]
}

/** Runs a line of a shell in the namespace, as a person would in the folder; returns what it prints. */
export function shell(line: string, folder: string): Promise<string> {
  return run(...within('sh', ['-c', `set -e; cd '${folder}'; ${line}`]))
}

/** Starts a program in the namespace; its lines of output go to `say`. */
export function start(say: (line: string) => void, command: string, ...args: string[]): ChildProcess {
  const [program, ...rest] = within(command, args)
  const child = spawn(program, rest, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  child.stdout.setEncoding('utf8').on('data', (text: string) => text.split('\n').filter(Boolean).forEach(say))
  return child
}

/** Resolves to the JSON that a command prints. */
export async function json<Answer>(...args: string[]): Promise<Answer> {
  return JSON.parse(await podman(...args)) as Answer
}
