/** The commands that read, change and examine the data of streams, on a server or on a store. */
import { appendCommand } from "./AppendCommand.ts"
import { cursorCommand, flushCommand, trimCommand } from "./ChangeCommands.ts"
import { inspectCommand } from "./InspectCommands.ts"
import { catCommand, tailCommand } from "./ReadCommands.ts"
import { repairCommand } from "./RepairCommand.ts"
import { statusCommand, streamsCommand } from "./StatusCommands.ts"
import { verifyCommand } from "./VerifyCommand.ts"

/** All of them, in the order of the help. */
export const dataCommands = [
  appendCommand,
  catCommand,
  tailCommand,
  streamsCommand,
  statusCommand,
  cursorCommand,
  flushCommand,
  trimCommand,
  inspectCommand,
  verifyCommand,
  repairCommand
] as const
