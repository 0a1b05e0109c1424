/** All claims, in the order of `docs/claims.md`. */
import type { ClaimSource } from "./Claim.ts"
import { guideSections } from "./Guides.ts"
import { openingSections } from "./Opening.ts"
import { pageSections } from "./Pages.ts"
import { promiseSections } from "./Promises.ts"
import { readingSections } from "./Reading.ts"
import { readmeSections } from "./Readme.ts"
import { servingSections } from "./Serving.ts"
import { costSections } from "./SourceCosts.ts"
import { durabilitySections } from "./SourceDurability.ts"
import { monitoringSections } from "./SourceMonitoring.ts"
import { performanceSections } from "./SourcePerformance.ts"
import { toolSections } from "./Tools.ts"
import { usingSections } from "./Using.ts"
import { writingSections } from "./Writing.ts"

export const claims: ReadonlyArray<ClaimSource> = [
  { title: "Promises", about: "What holds whatever happens.", sections: promiseSections },
  {
    title: "S3 WAL Backend Performance",
    about:
      "The first source document, heading by heading. Its references to other files of its repository claim nothing.",
    sections: [...performanceSections, ...costSections]
  },
  {
    title: "WAL Durability & Performance",
    about: "The second source document, heading by heading, and what both say of monitoring.",
    sections: [...durabilitySections, ...monitoringSections]
  },
  {
    title: "README.md",
    about: "What the first page says, by its headings.",
    page: "README.md",
    sections: readmeSections
  },
  {
    title: "How the log writes",
    about: "What must hold of it, by subject.",
    sections: [...writingSections, ...openingSections]
  },
  { title: "How the log reads and keeps", about: "What must hold of it, by subject.", sections: readingSections },
  { title: "How the server serves", about: "What must hold of it, by subject.", sections: servingSections },
  { title: "Tools", about: "What must hold of them.", sections: toolSections },
  { title: "Use and defence", about: "What must hold of it.", sections: usingSections },
  { title: "Pages of docs", about: "What keeps each page true.", sections: [...pageSections, ...guideSections] }
]
