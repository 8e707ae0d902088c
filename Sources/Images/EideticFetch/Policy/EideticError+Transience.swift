package import EideticCore

extension EideticError {
    /// A Boolean value indicating whether the transport failed: no response arrived, or only a part of one.
    var isTransportFailure: Bool { isTransient && code != .httpStatus }

    /// A Boolean value indicating whether the failure is temporary, so that another attempt may succeed.
    package var isTransient: Bool {
        switch code {
        case .hostNotFound, .connectionRefused, .connectionLost, .timedOut, .lengthMismatch: true
        case .httpStatus: httpStatus.map { $0 >= 500 || [408, 425, 429].contains($0) } ?? false
        default: false
        }
    }
}
