import type { Config, Protocols } from '../config/schema.ts'
import { readAccepted } from './accepted.ts'
import { type Files, filesOf, readFiles } from './files.ts'
import { assemble, isMistake, type Loaded, loadedOf, problemsOf } from './load.ts'

/**
 * What is in effect as a process starts. A restart is no change: the files that were in effect last hold, until what is on
 * disk now has taken effect as in a reload, or is refused as in one. Where none are kept, what is on disk. Settings are
 * those of gateway.yaml as it is now, `time_zone` for both.
 * @throws ConfigError with all mistakes at once
 */
export async function resumeConfig(dir: string, protocols: Protocols): Promise<Loaded> {
  const read = await readFiles(dir, { protocols })
  const { config } = read.gateway.content
  const before = config && (await inEffectBefore(read, config, { dir, protocols }))
  return before ?? loadedOf(read)
}

/** Undefined where nothing is kept, or it is wrong by now: a variable that it names is not set any more. */
async function inEffectBefore(
  read: Files,
  config: Config,
  { dir, protocols }: { dir: string; protocols: Protocols },
): Promise<Loaded | undefined> {
  const texts = await readAccepted(config.data_dir)
  if (!texts) return undefined
  const files = await filesOf(dir, texts, { protocols, zone: config.time_zone, previous: read })
  const companies = files.gateway.content.config?.companies
  const problems = await problemsOf(files)
  if (!companies || problems.some(isMistake)) return undefined
  return assemble({ files, problems, config: { ...config, companies }, now: Date.now() })
}
