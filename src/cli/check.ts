import { protocols } from '../../protocols/index.ts'
import { problemText } from '../config/problem.ts'
import { check } from '../roster/load.ts'
import { counted } from './output.ts'

/** `waybridge check`. @returns the exit code: 1 where a part of the configuration does not take effect */
export async function checkCommand(dir: string): Promise<number> {
  const { mistakes, warnings } = await check(dir, protocols, Date.now())
  for (const mistake of mistakes) process.stdout.write(`${problemText(mistake)}\n`)
  for (const warning of warnings) process.stdout.write(`warning: ${problemText(warning)}\n`)
  if (mistakes.length > 0) return 1
  process.stdout.write(
    `${dir}: no mistakes${warnings.length === 0 ? '' : `, ${counted(warnings.length, 'warning')}`}\n`,
  )
  return 0
}
