// What the host compares before it launches the product.
func.func @launch_gemm(%A: memref<?x?xbf16>, %B: memref<?x?xbf16>, %workgroups: index, %C: memref<?x?xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a0 = memref.dim %A, %c0 : memref<?x?xbf16>
  %b0 = memref.dim %C, %c0 : memref<?x?xbf16>
  %same0 = arith.cmpi eq, %a0, %b0 : index
  cf.assert %same0, "as many rows"
  %a1 = memref.dim %B, %c0 : memref<?x?xbf16>
  %b1 = memref.dim %C, %c1 : memref<?x?xbf16>
  %same1 = arith.cmpi eq, %a1, %b1 : index
  cf.assert %same1, "as many columns"
  %a2 = memref.dim %A, %c1 : memref<?x?xbf16>
  %b2 = memref.dim %B, %c1 : memref<?x?xbf16>
  %same2 = arith.cmpi eq, %a2, %b2 : index
  cf.assert %same2, "sums of one length"
  %some = arith.cmpi sge, %workgroups, %c1 : index
  cf.assert %some, "a workgroup"
  tracea_pipe.launch @gemm ins(%A, %B, %workgroups : memref<?x?xbf16>, memref<?x?xbf16>, index) outs(%C : memref<?x?xbf16>)
  return
}
