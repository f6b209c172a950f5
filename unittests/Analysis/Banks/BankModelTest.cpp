//===- BankModelTest.cpp - The tables of targets as bank models -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Analysis/Banks.h"
#include "gtest/gtest.h"

namespace alg = tracea::algebra;
namespace hardware = tracea::target;
using mlir::tracea::getBankModel;

// The tables and the algebra were written apart; what both know must agree.
TEST(BankModel, TablesAgreeWithTheAlgebra) {
  struct Case {
    const char *target, *model;
  };
  for (Case c : {Case{"sm_80", "nvidia"}, Case{"sm_90a", "nvidia"},
                 Case{"gfx942", "gfx942"}, Case{"gfx1100", "gfx1100"},
                 Case{"gfx1201", "gfx1201"}}) {
    alg::Expected<alg::BankModel> fromTable =
        getBankModel(*hardware::lookup(c.target));
    ASSERT_TRUE(fromTable) << fromTable.message();
    alg::BankModel known = *alg::bankModel(c.model);
    EXPECT_EQ(fromTable->name, c.target);
    EXPECT_EQ(fromTable->laneBits, known.laneBits) << c.target;
    EXPECT_EQ(fromTable->bankBits, known.bankBits) << c.target;
    EXPECT_EQ(fromTable->wordBits, known.wordBits) << c.target;
    EXPECT_EQ(fromTable->phases.size(), known.phases.size()) << c.target;
    for (const alg::AccessPhases &phase : known.phases) {
      alg::AccessPhases table =
          *fromTable->phasesOf(phase.widthBytes, phase.kind);
      EXPECT_TRUE(alg::sameSpan(table.lanes, phase.lanes))
          << c.target << " " << phase.widthBytes << " bytes";
      EXPECT_EQ(table.pairs, phase.pairs) << c.target;
      EXPECT_TRUE(alg::sameSpan(table.merged, phase.merged)) << c.target;
      EXPECT_EQ(table.mergingKnown, phase.mergingKnown) << c.target;
    }
  }
}

// Every GPU of the tables has a model, or says why not.
TEST(BankModel, AllTargets) {
  unsigned models = 0, unknown = 0;
  for (const hardware::TargetDescription &target : hardware::all()) {
    if (!target.isGPU())
      continue;
    alg::Expected<alg::BankModel> model = getBankModel(target);
    ++(model ? models : unknown);
    if (model)
      EXPECT_EQ(model->verify(), "") << target.name;
    else
      EXPECT_NE(model.message().find("'" + target.name + "' are not known"),
                std::string::npos)
          << model.message();
  }
  EXPECT_GE(models, 5u);
  EXPECT_GE(unknown, 2u); // gfx90a and Apple's.
}

TEST(BankModel, RefusesBrokenTables) {
  hardware::TargetDescription target = *hardware::lookup("sm_90a");
  target.shared.banks = 24;
  EXPECT_EQ(getBankModel(target).message(),
            "the banks of 'sm_90a' are not known");
  target.shared.banks = 32;
  target.shared.phases[0].lanes = {1, 2, 3};
  EXPECT_FALSE(getBankModel(target));
  EXPECT_FALSE(getBankModel(*hardware::lookup("gfx90a")));
}
