import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { onTestFinished } from 'vitest'

const SIZE = 128 * 1024 * 1024

/** An ext4 file system of its own on a loop device, for a test; it needs root. */
export class LoopDisk {
  /** Where it is mounted. */
  readonly dir: string
  readonly #device: string

  /** Makes one in a folder and mounts it; undefined if loop devices or ext4 cannot be had. */
  static create(folder: string): LoopDisk | undefined {
    const image = join(folder, 'disk')
    writeFileSync(image, '')
    truncateSync(image, SIZE)
    if (spawnSync('mkfs.ext4', ['-q', image]).status !== 0) return undefined
    const { status, stdout } = spawnSync('losetup', ['--find', '--show', image], { encoding: 'utf8' })
    if (status !== 0) return undefined
    const disk = new LoopDisk(join(folder, 'mounted'), stdout.trim())
    disk.#mount()
    if (existsSync(disk.#trigger)) return disk
    disk.unmount()
    return undefined
  }

  private constructor(dir: string, device: string) {
    this.dir = dir
    this.#device = device
    mkdirSync(dir)
    onTestFinished(() => {
      spawnSync('umount', ['--lazy', dir])
      spawnSync('losetup', ['--detach', device])
    })
  }

  /** From now on nothing reaches the disk any more. */
  cut(): void {
    writeFileSync(this.#trigger, '1')
  }

  /** Returns whether it is unmounted now: not while a process has a file of it. */
  unmount(): boolean {
    return spawnSync('umount', [this.dir]).status === 0
  }

  /** Mounts what was written before it was cut and unmounted, as a machine does that has power again. */
  repair(): void {
    const { status, stdout } = spawnSync('e2fsck', ['-fy', this.#device], { encoding: 'utf8' })
    if (status === null || status > 1) throw new Error(`e2fsck: ${stdout}`)
    this.#mount()
  }

  get #trigger(): string {
    return `/sys/fs/ext4/${basename(this.#device)}/trigger_fs_error`
  }

  #mount(): void {
    execFileSync('mount', ['-t', 'ext4', '-o', 'errors=remount-ro', this.#device, this.dir])
  }
}
