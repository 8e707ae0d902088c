public import EideticCore
public import FoundationEssentials

/// A program that imports `Eidetic` and Foundation gets ``EideticError/message`` as `localizedDescription`.
extension EideticError: LocalizedError {
    /// The message.
    public var errorDescription: String? { message }
}

/// Returns whether an error has a code: `catch EideticError.Code.cancelled { … }`.
///
/// Re-exporting a single type does not export its operators, so `Eidetic` declares this one. With `import EideticCore`
/// that of the type is used.
@_disfavoredOverload
public func ~= (code: EideticError.Code, error: any Error) -> Bool { (error as? EideticError)?.code == code }
