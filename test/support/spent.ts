import type { Detector } from '../../src/gateway/wire/detect.ts'

/** Uses up the time that a gateway has for detection. */
export async function spent({ budget }: Detector): Promise<void> {
  while (!budget.mustWait) await budget.inTurn('192.0.2.1', { isGone: () => false, look: lookFor120ms })
}

function lookFor120ms(): void {
  for (const began = performance.now(); performance.now() - began < 120; );
}
