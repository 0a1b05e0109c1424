#!/usr/bin/env node
/** The entry point of the process. */
import { runMain } from "./cli/ExitCode.ts"
import { program } from "./cli/Root.ts"

runMain(program)
