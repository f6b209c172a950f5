//===- Lanes.h - Schedules of products by warps and lanes -------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_SCHEDULE_LANES_H
#define TRACEA_SCHEDULE_LANES_H

#include "tracea/Schedule/RegisterTile.h"

namespace mlir::tracea::schedule {

/// What families share whose lanes copy blocks of both operands ahead, into
/// one ring, and multiply them themselves.
struct LaneRing : RegisterTile {
  int64_t slots = 1; // all but one are filled ahead
  int64_t group = 0; // height of a raster group of tiles; 0: row by row
  int64_t split = 1; // parts of the sum over k, which another kernel adds up
  int64_t table = 0; // 1: lanes share the coordinates of the tile's pixels

  void list(Fields &fields) {
    RegisterTile::list(fields);
    fields.add("slots", slots, 1, kMostSlots);
    fields.add("group", group, 0, kAny);
    fields.add("split", split, 1, 64);
    fields.add("table", table, 0, 1);
  }
};

/// "gemm.warp", "gemm.tf32x3", "conv2d.warp", "conv2d.tf32x3", "wgrad.warp",
/// "wgrad.tf32x3": `registers` is the tile of a warp.
struct WarpGemm : LaneRing {
  static constexpr std::string_view kFamily = "warp_gemm";
};

/// "gemm.simt", "conv2d.simt", "wgrad.simt": `registers` is the tile of a lane.
struct SimtGemm : LaneRing {
  static constexpr std::string_view kFamily = "simt_gemm";
};

/// "conv2d.lanes": `registers` are the pixels of a row and the channels of a
/// lane.
struct LaneConv : RegisterTile {
  static constexpr std::string_view kFamily = "lane_conv";

  int64_t residents = 1; // workgroups that share a multiprocessor

  void list(Fields &fields) {
    RegisterTile::list(fields);
    fields.add("residents", residents, 1, 32);
  }
};

/// What families of attention share on GPUs.
struct AttentionRing : RegisterTile {
  static constexpr int64_t kMostParts = 32; // that a lane merges

  int64_t slots = 1;     // of keys and values; all but one are filled ahead
  int64_t rings = 1;     // 2: values have their own, waited for after weights
  int64_t residents = 1; // workgroups that share a multiprocessor
  int64_t pack = 0;      // 1: rows of a tile are the heads of one key head
  int64_t split = 1;     // parts of the keys, merged by a second kernel

  void list(Fields &fields) {
    RegisterTile::list(fields);
    fields.add("slots", slots, 1, kMostSlots);
    fields.add("rings", rings, 1, 2);
    fields.add("residents", residents, 1, 32);
    fields.add("pack", pack, 0, 1);
    fields.add("split", split, 1, kMostParts);
  }
};

/// "attention.warp": `registers` is the tile of scores of a warp.
struct WarpAttention : AttentionRing {
  static constexpr std::string_view kFamily = "warp_attention";

  int64_t reread = 0; // 1: queries stay in shared memory, not in registers

  void list(Fields &fields) {
    AttentionRing::list(fields);
    fields.add("reread", reread, 0, 1);
  }
};

/// "attention_qgrad.warp", "attention_kvgrad.warp": `registers` is the tile of
/// scores of a warp, rows along the sequence whose gradients it has.
struct WarpAttentionGrad : RegisterTile {
  static constexpr std::string_view kFamily = "warp_attention_grad";

  int64_t slots = 1;     // of what a tile walks along; all but one filled ahead
  int64_t residents = 1; // workgroups that share a multiprocessor
  int64_t reread = 0;    // 1: a tile's operands stay in shared memory

  void list(Fields &fields) {
    RegisterTile::list(fields);
    fields.add("slots", slots, 1, kMostSlots);
    fields.add("residents", residents, 1, 32);
    fields.add("reread", reread, 0, 1);
  }
};

/// "attention.simt": `registers` is the tile of scores of a lane.
struct SimtAttention : AttentionRing {
  static constexpr std::string_view kFamily = "simt_attention";
};

} // namespace mlir::tracea::schedule

#endif // TRACEA_SCHEDULE_LANES_H
