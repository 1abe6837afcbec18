# The application of the five studies: a small, real Rails 6.1 or 7 application, in one file and without bundler.
#
# It writes nothing into its own folder. What it needs comes from the environment:
#   STUDY_DB        the SQLite database that `prepare` makes
#   RAILS_LOG       the log (standard error without it)
#   LOG_LEVEL       info; the cable studies use warn, since Action Cable logs every message at info
#   CABLE_ADAPTER   async, redis (with REDIS_URL) or anycable_http (with ANYCABLE_BROADCAST_URL)
ENV["RAILS_ENV"] ||= "production"
$LOAD_PATH.unshift(File.join(__dir__, "lib")) # Action Cable requires its adapter by name.
require "logger"
require "rails"
require "active_record/railtie"
require "action_controller/railtie"
require "action_view/railtie"
require "action_cable/engine"

class StudyApp < Rails::Application
  config.root = __dir__
  config.load_defaults 6.1
  config.eager_load = true
  config.cache_classes = true
  config.consider_all_requests_local = false
  config.secret_key_base = "0" * 64 # Nothing here is secret, and every worker must read every cookie.
  config.session_store :cookie_store, key: "_session_id"
  config.action_controller.perform_caching = false
  config.action_controller.default_protect_from_forgery = false
  config.hosts.clear
  config.public_file_server.enabled = true
  config.paths["app/views"] = "views"
  config.paths["config/database"] = File.join(__dir__, "database.yml")
  config.active_record.migration_error = false

  config.log_level = ENV.fetch("LOG_LEVEL", "info").to_sym
  log = ActiveSupport::Logger.new(ENV["RAILS_LOG"] || $stderr)
  log.formatter = ::Logger::Formatter.new # With times and process numbers, as new Rails applications have it.
  config.logger = ActiveSupport::TaggedLogging.new(log)

  config.action_cable.mount_path = "/cable"
  config.action_cable.disable_request_forgery_protection = true # Load generators have no Origin to show.
  config.action_cable.worker_pool_size = 4
  config.action_cable.cable = {
    "adapter" => ENV.fetch("CABLE_ADAPTER", "async"),
    "url" => ENV["REDIS_URL"],
    "channel_prefix" => "study"
  }
end

class ApplicationRecord < ActiveRecord::Base
  self.abstract_class = true
end

class User < ApplicationRecord; end

class Auction < ApplicationRecord
  belongs_to :seller, class_name: "User"
  has_many :lots
  has_many :comments
end

class Lot < ApplicationRecord
  belongs_to :auction
  has_many :bids
end

class Bid < ApplicationRecord
  belongs_to :lot
  belongs_to :user
end

class Comment < ApplicationRecord
  belongs_to :auction
  belongs_to :user
end

class ApplicationController < ActionController::Base
  helper_method :current_user

  def current_user
    @current_user ||= cookies[:user_id] && User.find_by(id: cookies[:user_id])
  end
end

# The page of saturation: 11 queries and 10 partials, one query more for who is logged in (`Cookie: user_id=1`).
class AuctionsController < ApplicationController
  def show
    @auction = Auction.find(params[:id])
    @seller = @auction.seller
    @lots = @auction.lots.order(:id).limit(4).to_a
    @bids = @lots.map { |lot| [lot, lot.bids.order(amount: :desc).first] }
    all_bids = Bid.joins(:lot).where(lots: { auction_id: @auction.id })
    @top = all_bids.maximum(:amount)
    @count = all_bids.count
    @comments = @auction.comments.includes(:user).order(id: :desc).limit(5).to_a
  end
end

# The page of app-servers: what a scaffold shows of one object.
class UsersController < ApplicationController
  def show
    @user = User.find(params[:id])
  end
end

# Pages of a known service time.
class TimedController < ActionController::API
  # Waits, and answers with as many bytes as the page of proxy-balancing had.
  def wait
    Kernel.sleep(milliseconds(20) / 1000.0)
    render plain: "x" * 2495
  end

  # The same, but uses up CPU time instead of waiting.
  def burn
    ends = cpu_time + milliseconds(20) / 1000.0
    nil while cpu_time < ends
    render plain: "x" * 2495
  end

  # The dynamic page of nginx-or-not answers 400 with 1052 bytes, as the post's did.
  def refuse
    Kernel.sleep(milliseconds(0) / 1000.0)
    render plain: "x" * 1052, status: 400
  end

  def pid
    render plain: "#{$$}\n"
  end

  private

  def milliseconds(default)
    (params[:ms] || default).to_f
  end

  def cpu_time
    Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
  end
end

module ApplicationCable
  # The cookie `uid=NAME/ID` names the user.
  class Connection < ActionCable::Connection::Base
    identified_by :uid, :uname

    def connect
      name, id = cookies[:uid].to_s.split("/")
      reject_unauthorized_connection unless name && id
      self.uname = name
      self.uid = id
    end
  end

  class Channel < ActionCable::Channel::Base; end
end

# The chat of cable-servers.
class ChatChannel < ApplicationCable::Channel
  def subscribed
    return reject unless params[:id]

    stream_from "chat_#{params[:id]}"
  end

  def speak(data)
    message = { action: "newMessage", author_id: uid, author: uname, message: data["message"] }
    ActionCable.server.broadcast("chat_#{params[:id]}", message)
  end
end

require_relative "anycable"

StudyApp.initialize!

StudyApp.routes.draw do
  get "/auctions/:id", to: "auctions#show"
  get "/users/:id", to: "users#show"
  get "/wait", to: "timed#wait"
  get "/the-url", to: "timed#refuse"
  get "/burn", to: "timed#burn"
  mount AnyCableRpc => "/_anycable"
  root to: "timed#pid"
end
