// The part of UIKit that AsyncDI and Client.swift touch, as Swift sees it in the SDK of iOS 18. UIKit re-exports Foundation,
// which has `NSObject`, and the Objective-C runtime, whose functions stand below. Nothing of it runs.

@_exported public import Foundation

@MainActor @preconcurrency open class UIResponder: NSObject {}

@MainActor @preconcurrency open class UIViewController: UIResponder {
    public init(nibName nibNameOrNil: String?, bundle nibBundleOrNil: Bundle?) {}
    public required init?(coder: NSCoder) { nil }

    open func viewDidLoad() {}
    weak open var parent: UIViewController? { nil }
    open var presentingViewController: UIViewController? { nil }
    open func present(_ controller: UIViewController, animated: Bool, completion: (() -> Void)? = nil) {}
}

// MARK: The Objective-C runtime

public enum objc_AssociationPolicy: UInt, @unchecked Sendable {
    case OBJC_ASSOCIATION_ASSIGN = 0
    case OBJC_ASSOCIATION_RETAIN_NONATOMIC = 1
}

public func objc_getAssociatedObject(_ object: Any, _ key: UnsafeRawPointer) -> Any? { fatalError() }

public func objc_setAssociatedObject(
    _ object: Any, _ key: UnsafeRawPointer, _ value: Any?, _ policy: objc_AssociationPolicy
) { fatalError() }
