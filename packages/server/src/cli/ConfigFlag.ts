/** The flag that names the configuration, the same for every command. */
import { Flag } from "effect/cli"

/** `--config FILE`. */
export const configFlag = Flag.File("config", { mustExist: false }).pipe(
  Flag.withDescription("YAML or JSON file; default: the variable EFFECT_WAL_CONFIG, else one stream in ./data"),
  Flag.optional
)
