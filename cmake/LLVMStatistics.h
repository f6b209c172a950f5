// The layout of a pass statistic follows NDEBUG, and must be the one of the
// LLVM libraries, which construct it. Force-included where Tracea is built with
// asserts against an LLVM without them.
#pragma once
#ifndef NDEBUG
#define NDEBUG
#include "llvm/ADT/Statistic.h"
#undef NDEBUG
#include <cassert>
#endif
