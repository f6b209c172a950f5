// RUN: tracea-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{names the check 'Banks'; expected lower-case letters and '-'}}
#upper = #tracea_pipe.certificate<check = "Banks", claim = "c">

// -----

// expected-error @below {{names the check ''}}
#empty = #tracea_pipe.certificate<check = "", claim = "c">

// -----

// expected-error @below {{claims nothing}}
#claim = #tracea_pipe.certificate<check = "banks", claim = "">

// -----

// expected-error @below {{has a control character at offset 1 of its claim; expected one line}}
#lines = #tracea_pipe.certificate<check = "banks", claim = "a\nb">

// -----

// expected-error @below {{has a control character at offset 0 of its model; expected one line}}
#model = #tracea_pipe.certificate<check = "banks", claim = "a", model = "\09">

// -----

// expected-error @below {{has certificates that are no array: "banks"}}
module attributes {tracea_pipe.certificates = "banks"} {}

// -----

// expected-error @below {{has "banks: one" among its certificates; expected a #tracea_pipe.certificate<check = ..., claim = ...>}}
module attributes {tracea_pipe.certificates = ["banks: one"]} {}

// -----

// expected-error @below {{has two certificates of the check 'banks'}}
module attributes {tracea_pipe.certificates = [
    #tracea_pipe.certificate<check = "banks", claim = "one">,
    #tracea_pipe.certificate<check = "banks", claim = "two">]} {}

// -----

// expected-error @below {{has 7 : i64 as 'tracea_pipe.certified'; expected the text of a fingerprint}}
module attributes {tracea_pipe.certified = 7} {}

// -----

// expected-error @below {{has remarks that are no array}}
module attributes {tracea_pipe.remarks = "none"} {}

// -----

// expected-error @below {{has {check = "banks"} among its remarks; expected {check = "...", reason = "..."}}}
module attributes {tracea_pipe.remarks = [{check = "banks"}]} {}
