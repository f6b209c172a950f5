// RUN: tracea-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(func.func(tracea-expand-reshapes))"

func.func @wrong(%x: tensor<4x16xf32>) -> tensor<?x?xf32> {
  %shape = arith.constant dense<[32, 3]> : tensor<2xi64>
  // expected-error @below {{'tensor.reshape' op the reshape does not keep the number of elements: 64 is not 96}}
  %y = tensor.reshape %x(%shape) : (tensor<4x16xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

func.func @wrong2(%x: tensor<?x5xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %x, %c0 : tensor<?x5xf32>
  %shape = tensor.from_elements %n, %c3 : tensor<2xindex>
  // expected-error @below {{'tensor.reshape' op the reshape does not keep the number of elements: 5 is not 3}}
  %y = tensor.reshape %x(%shape) : (tensor<?x5xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

func.func @rank0const(%x: tensor<f32>) -> tensor<?xf32> {
  %shape = arith.constant dense<[2]> : tensor<1xi64>
  // expected-error @below {{'tensor.reshape' op the reshape does not keep the number of elements: 2 is not 1}}
  %y = tensor.reshape %x(%shape) : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

func.func @minus(%x: tensor<4x16xf32>) -> tensor<?x?xf32> {
  %shape = arith.constant dense<[-1, 8]> : tensor<2xi64>
  // expected-error @below {{'tensor.reshape' op expects sizes of at least 0, found -1 for dimension 0}}
  %y = tensor.reshape %x(%shape) : (tensor<4x16xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

func.func @type(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c4 = arith.constant 4 : index
  %shape = tensor.from_elements %c4, %c4 : tensor<2xindex>
  // expected-error @below {{'tensor.reshape' op the size of dimension 1 that the reshape asks for is not that of its type: 4 is not 8}}
  %y = tensor.reshape %x(%shape) : (tensor<?x8xf32>, tensor<2xindex>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

func.func @unknown(%x: tensor<?x5xf32>, %shape: tensor<2xindex>) -> tensor<?x?xf32> {
  // expected-error @below {{'tensor.reshape' op takes the sizes of dimensions 0 and 1 from a tensor whose numbers only its contents tell; expected a 'tensor.from_elements' of sizes, integers among the arguments and arithmetic on them}}
  %y = tensor.reshape %x(%shape) : (tensor<?x5xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

func.func @nothing(%x: tensor<?x0xf32>, %shape: tensor<2xindex>) -> tensor<?x0xf32> {
  // expected-error @below {{'tensor.reshape' op has no elements and takes the size of dimension 0 from a tensor whose numbers only its contents tell; expected a 'tensor.from_elements'}}
  %y = tensor.reshape %x(%shape) : (tensor<?x0xf32>, tensor<2xindex>) -> tensor<?x0xf32>
  return %y : tensor<?x0xf32>
}

// -----

func.func @unranked(%x: tensor<?x4xf32>, %shape: tensor<?xindex>) -> tensor<*xf32> {
  // expected-error @below {{'tensor.reshape' op expects ranked tensors, found 'tensor<?x4xf32>' and 'tensor<*xf32>'}}
  %y = tensor.reshape %x(%shape) : (tensor<?x4xf32>, tensor<?xindex>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}
