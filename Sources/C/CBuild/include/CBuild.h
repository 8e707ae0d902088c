#pragma once

/// Returns the commit from which this build was made; "" if the environment of the build did not state it.
///
/// It is in a C target because only C targets can be given a value, and because a new commit then compiles one file.
const char *eidetic_build_commit(void);
