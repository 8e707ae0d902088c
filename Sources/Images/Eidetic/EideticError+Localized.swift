public import EideticCore
public import FoundationEssentials

/// A program that imports `Eidetic` and Foundation gets ``EideticError/message`` as `localizedDescription`.
extension EideticError: LocalizedError {
    /// The message.
    public var errorDescription: String? { message }
}

/// Returns whether an error has a code: `catch EideticError.Code.cancelled { … }`.
///
/// A type that is exported by its name comes without its operators; who imports `EideticCore` has that of the type.
@_disfavoredOverload
public func ~= (code: EideticError.Code, error: any Error) -> Bool { (error as? EideticError)?.code == code }
