# The shop of shop.py as a real Rails application, for docs/guide/rails.md: sessions in an encrypted cookie, CSRF tokens, a form, an upload.
#
#   RAILS_LOG=rails.log puma -q -e production -b tcp://127.0.0.1:3000 -t 5:5 examples/rails/shop.ru
#
# It needs Debian's ruby-railties and puma, or the gems rails and puma, and no database. SLEEP=0.1 makes each page wait, as a slow query does.
require "logger"
require "rails"
require "action_controller/railtie"
require "action_view/railtie"

class ShopApp < Rails::Application
  config.root = __dir__
  config.eager_load = true
  config.secret_key_base = "0" * 64
  config.hosts.clear
  config.log_level = :info
  config.log_tags = [:request_id]
  config.session_store :cookie_store, key: "_shop_session"
  logger = ActiveSupport::Logger.new(ENV["RAILS_LOG"] || File::NULL)
  logger.formatter = ::Logger::Formatter.new
  config.logger = ActiveSupport::TaggedLogging.new(logger)
end

class ShopController < ActionController::Base
  protect_from_forgery with: :exception
  before_action { sleep ENV["SLEEP"].to_f if ENV["SLEEP"] }

  def home
    page "<h1>Shop</h1>"
  end

  def product
    page "<h1>tea</h1>", form("/cart", '<input type="hidden" name="product" value="1"><button>Buy</button>')
  end

  def login
    page "<h1>Log in</h1>", form("/login", '<input name="name"><input type="password" name="password"><button>Log in</button>')
  end

  # As Devise does: the session is new, so that the token of before the log-in is of no use after it.
  def log_in
    return head(:unauthorized) unless params[:password] == "secret"
    reset_session
    session[:user] = params[:name]
    redirect_to "/account"
  end

  def account
    return redirect_to("/login") unless session[:user]
    page "<p id=user>#{ERB::Util.h(session[:user])}</p>"
  end

  def new_upload
    page "<h1>Upload</h1>", form("/upload", '<input type="file" name="picture"><button>Send</button>', "multipart/form-data")
  end

  def upload
    render json: { bytes: request.content_length }, status: :created
  end

  def buy
    session[:cart] = session[:cart].to_i + 1
    return redirect_to("/") unless request.headers["Accept"].to_s.include?("turbo-stream")
    stream = %(<turbo-stream action="update" target="cart"><template>#{session[:cart]}</template></turbo-stream>)
    render body: stream, content_type: "text/vnd.turbo-stream.html"
  end

  private

  def form(action, fields, enctype = "application/x-www-form-urlencoded")
    token = %(<input type="hidden" name="authenticity_token" value="#{form_authenticity_token}">)
    %(<form method="post" action="#{action}" enctype="#{enctype}">#{token}#{fields}</form>)
  end

  def page(*parts)
    head = %(<meta name="csrf-token" content="#{form_authenticity_token}">)
    render html: "<!doctype html><html><head>#{head}</head><body>#{parts.join}</body></html>".html_safe
  end
end

ShopApp.initialize!
ShopApp.routes.draw do
  root "shop#home"
  get "/products/:id" => "shop#product"
  get "/login" => "shop#login"
  post "/login" => "shop#log_in"
  get "/account" => "shop#account"
  get "/upload" => "shop#new_upload"
  post "/upload" => "shop#upload"
  post "/cart" => "shop#buy"
end
run ShopApp
