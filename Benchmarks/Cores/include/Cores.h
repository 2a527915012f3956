#pragma once

/// Restricts all threads of the process, and those that they start, to one core. Does nothing elsewhere than on Linux.
void useOneCore(void);

/// Lets all threads use all cores again.
void useAllCores(void);
